"""Search: depth first over what starts at each event on GPUs of which classes, a kernel."""

from typing import Any, NamedTuple

import numpy as np

from formulations.sharing.jobs import Jobs
from formulations.sharing.lower import lower
from formulations.sharing.stack import ENDED, PENDING, RUNNING, Stack, copy_node, is_whole, pending
from formulations.sharing.table import Table, is_new
from gsopt.compiled import compiled
from gsopt.tolerances import SPAN_ERROR, WORK_DONE

Array = np.ndarray[Any, Any]


class Found(NamedTuple):
    """The best schedule.

    Attributes
    ----------
    value
        The sum of its ends, in an array of one; infinity when there is none.
    start, end
        When each job starts and ends.
    taken
        For each job, how many GPUs it shares with each job at its start, and last how many nobody held.
    """

    value: Array
    start: Array
    end: Array
    taken: Array


def nothing_found(jobs: Jobs, value: float = np.inf) -> Found:
    """Give the best schedule when there is none, but for its value."""
    count = len(jobs.demand)
    taken = np.zeros((count, count + 1), dtype=np.int64)
    return Found(np.array([value]), np.zeros(count), np.zeros(count), taken)


@compiled
def search(jobs: Jobs, stack: Stack, table: Table, found: Found, nodes: int) -> int:
    """Search on for so many nodes at most; give how many it were.

    At an event either one more job starts, of a higher number than the one before it at this instant, on some
    number of GPUs of each class, or time passes to the next event. Classes are the GPUs that nobody holds and
    those that one job holds alone: which GPUs of a class makes no difference, so there is no symmetry left. A
    node is left out where its bound is not below the best schedule, and where its state was seen at no higher
    cost: the same work left of the same jobs on as many shared GPUs, at the same time, or later where no
    arrival is ahead.

    Parameters
    ----------
    jobs
        The jobs.
    stack
        Where the search is; changed.
    table
        What it has seen; changed.
    found
        The best schedule; changed.
    nodes
        When to come back.
    """
    count = len(jobs.demand)
    for visited in range(nodes):
        depth = stack.depth[0]
        if depth < 0:
            return visited
        job = next_start(jobs, stack, depth)
        if job >= 0:
            begin(stack, depth, job)
        elif stack.cursor[depth] == count:
            stack.cursor[depth] += 1
            if not advance(jobs, stack, depth):
                continue
        else:
            stack.depth[0] -= 1
            continue
        depth += 1
        stack.fresh[depth] = True
        if is_whole(stack, depth):
            if stack.cost[depth] < found.value[0] * (1 - SPAN_ERROR):
                keep(stack, depth, found)
            continue
        enough = found.value[0] * (1 - SPAN_ERROR)
        if lower(jobs, stack, depth, enough) < enough and (job >= 0 or is_new(jobs, stack, depth, table)):
            stack.depth[0] = depth
    return nodes


@compiled
def next_start(jobs: Jobs, stack: Stack, depth: int) -> int:
    """Move on to the next start of a node, written to its ``taken``; give the job, or -1 when there is none."""
    count = len(jobs.demand)
    while stack.cursor[depth] < count:
        job = stack.cursor[depth]
        if stack.state[depth, job] == PENDING and jobs.release[job] <= stack.time[depth]:
            last = pending(stack, depth) == 1
            while next_choice(jobs, stack, depth, job):
                if not last or is_least(jobs, stack, depth, job):
                    return int(job)
        stack.cursor[depth] += 1
        stack.fresh[depth] = True
    return -1


@compiled
def is_least(jobs: Jobs, stack: Stack, depth: int, job: int) -> bool:
    """Tell whether a start can do without none of its partners, and is the first of those with the same ones.

    Where no job is to start any more, only who shares with whom matters, and fewer partners are no worse.
    """
    count = len(jobs.demand)
    taken, spare = stack.taken[depth, job], 0
    for other in range(count):  # all GPUs of each class are taken but of the lowest
        if taken[other] > 0:
            spare = stack.own[depth, other] - taken[other]
            break
    else:
        return True
    if taken[count] < stack.free[depth]:
        return False
    for higher in range(other + 1, count):
        if taken[higher] > 0 and (taken[higher] < stack.own[depth, higher] or spare >= taken[higher]):
            return False
    return True


@compiled
def next_choice(jobs: Jobs, stack: Stack, depth: int, job: int) -> bool:
    """Choose other GPUs for the start of a job, free ones first; tell whether there were some."""
    count = len(jobs.demand)
    taken = stack.taken[depth, job]
    room = np.zeros(count + 1, dtype=np.int64)
    for other in range(count):
        if stack.state[depth, other] == RUNNING and jobs.pairs[job, other]:
            room[other] = stack.own[depth, other]
    room[count] = stack.free[depth]
    need, place = jobs.demand[job], count
    if stack.fresh[depth]:
        stack.fresh[depth] = False
    else:  # take one less of the last class that leaves room for it behind, and what was behind again
        behind, need = 0, 0
        place = -1
        for each in range(count + 1):
            if taken[each] > 0 and behind > need:
                place = each
                break
            need += taken[each]
            behind += room[each]
        if place < 0:
            return False
        taken[place] -= 1
        need += 1
        place -= 1
    for each in range(place + 1):
        taken[each] = 0
    while place >= 0 and need > 0:
        taken[place] = min(room[place], need)
        need -= taken[place]
        place -= 1
    return bool(need == 0)


@compiled
def begin(stack: Stack, depth: int, job: int) -> None:
    """Write the node behind one in which a job starts."""
    child = depth + 1
    copy_node(stack, depth)
    count = stack.state.shape[1]
    stack.cursor[child] = job + 1
    stack.state[child, job] = RUNNING
    stack.start[child, job] = stack.time[depth]
    stack.free[child] -= stack.taken[depth, job, count]
    stack.own[child, job] = stack.taken[depth, job, count]
    for other in range(count):
        both = stack.taken[depth, job, other]
        if both > 0:
            stack.own[child, other] -= both
            stack.shared[child, job, other] = both
            stack.shared[child, other, job] = both


@compiled
def advance(jobs: Jobs, stack: Stack, depth: int) -> bool:
    """Write the node behind one in which time passes to the next event; tell whether there is one."""
    child = depth + 1
    count = len(jobs.demand)
    now = stack.time[depth]
    slow = np.ones(count)
    arrival = end = np.inf
    for job in range(count):
        if stack.state[depth, job] == RUNNING:
            for other in range(count):
                if stack.shared[depth, job, other] > 0:
                    slow[job] = max(slow[job], jobs.slowdown[job, other])
            end = min(end, now + stack.left[depth, job] * slow[job])
        elif stack.state[depth, job] == PENDING and jobs.release[job] > now:
            arrival = min(arrival, jobs.release[job])
    if arrival == np.inf and end == np.inf:
        return False
    time = arrival if arrival <= end * (1 + WORK_DONE) else end
    copy_node(stack, depth)
    stack.cursor[child] = 0
    stack.time[child] = time
    for job in range(count):
        if stack.state[depth, job] == RUNNING:
            stack.left[child, job] -= (time - now) / slow[job]
            if stack.left[child, job] <= WORK_DONE * max(1.0, time):
                leave(stack, child, job)
    return True


@compiled
def leave(stack: Stack, depth: int, job: int) -> None:
    """End a job in a node."""
    stack.state[depth, job] = ENDED
    stack.left[depth, job] = stack.time[depth]  # of use no more but for its end
    stack.cost[depth] += stack.time[depth]
    stack.free[depth] += stack.own[depth, job]
    stack.own[depth, job] = 0
    for other in range(stack.state.shape[1]):
        both = stack.shared[depth, job, other]
        if both > 0:
            stack.shared[depth, job, other] = 0
            stack.shared[depth, other, job] = 0
            stack.own[depth, other] += both


@compiled
def keep(stack: Stack, depth: int, found: Found) -> None:
    """Keep the schedule of a node in which all jobs have ended."""
    found.value[0] = stack.cost[depth]
    count = len(found.start)
    for job in range(count):
        found.start[job] = stack.start[depth, job]
        found.end[job] = stack.left[depth, job]
        for other in range(count + 1):
            found.taken[job, other] = stack.taken[depth, job, other]
