"""Search: depth first over what starts at each event on GPUs of which classes, a kernel."""

from typing import Any, NamedTuple

import numpy as np

from formulations.sharing.areas import area_bound
from formulations.sharing.jobs import Jobs
from gsopt.compiled import compiled
from gsopt.tolerances import SPAN_ERROR, WORK_DONE

Array = np.ndarray[Any, Any]

#: States of a job.
PENDING, RUNNING, ENDED = 0, 1, 2

#: Two primes below 2**31, so that products of remainders are 64-bit integers, and a factor for each.
_PRIMES, _FACTORS = (2147483647, 2147483629), (1000003, 998244353)

#: Steps of the grid of times and works on which states are compared, in a unit of time.
_GRID = float(2**33)

#: Places of the table that a state may have.
_PROBES = 8


class Stack(NamedTuple):
    """The nodes from the root to the one at hand, a row of each array for each.

    Attributes
    ----------
    depth
        Row of the node at hand, in an array of one; -1 when all is searched.
    cursor
        The job of which starts are tried; the number of jobs when time is to pass, one more when it has.
    fresh
        Whether no start of that job has been tried.
    time, cost
        The time, and the sum of the ends of the jobs that have ended.
    free
        GPUs that nobody holds.
    state, left
        State of each job and seconds of work that are left of it.
    own
        GPUs that each job holds alone.
    shared
        GPUs that two jobs share.
    taken
        GPUs of the start being tried: those of each job that it shares, and last the free ones.
    start
        When each job started.
    """

    depth: Array
    cursor: Array
    fresh: Array
    time: Array
    cost: Array
    free: Array
    state: Array
    left: Array
    own: Array
    shared: Array
    taken: Array
    start: Array


class Table(NamedTuple):
    """States that were seen, by two remainders, and the least cost of each.

    Attributes
    ----------
    keys
        Two remainders of each state.
    costs
        Its least cost, infinity where a place is free.
    """

    keys: Array
    costs: Array


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


def new_stack(jobs: Jobs) -> Stack:
    """Give the stack with the root: nothing has started at the first arrival."""
    count = len(jobs.demand)
    rows = 3 * count + 2
    stack = Stack(
        depth=np.zeros(1, dtype=np.int64),
        cursor=np.zeros(rows, dtype=np.int64),
        fresh=np.ones(rows, dtype=np.bool_),
        time=np.zeros(rows),
        cost=np.zeros(rows),
        free=np.zeros(rows, dtype=np.int64),
        state=np.zeros((rows, count), dtype=np.int64),
        left=np.zeros((rows, count)),
        own=np.zeros((rows, count), dtype=np.int64),
        shared=np.zeros((rows, count, count), dtype=np.int64),
        taken=np.zeros((rows, count, count + 1), dtype=np.int64),
        start=np.zeros((rows, count)),
    )
    stack.free[0] = jobs.gpus[0]
    stack.left[0] = jobs.duration
    return stack


def new_table(size: int) -> Table:
    """Give an empty table of so many places."""
    return Table(np.zeros((size, 2), dtype=np.int64), np.full(size, np.inf))


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
    cost: the same work left of the same jobs on as many shared GPUs, at the same time, or later where no arrival
    is ahead.

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
        elif lower(jobs, stack, depth) < found.value[0] * (1 - SPAN_ERROR) and (
            job >= 0 or is_new(jobs, stack, depth, table)
        ):
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
                    return job
        stack.cursor[depth] += 1
        stack.fresh[depth] = True
    return -1


@compiled
def pending(stack: Stack, depth: int) -> int:
    """Count the jobs that have not started."""
    total = 0
    for state in stack.state[depth]:
        total += state == PENDING
    return total


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
        taken[:] = 0
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
        taken[: place + 1] = 0
    while place >= 0 and need > 0:
        taken[place] = min(room[place], need)
        need -= taken[place]
        place -= 1
    return need == 0


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
def copy_node(stack: Stack, depth: int) -> None:
    """Write the node behind one as it is, but for what has been tried."""
    child = depth + 1
    stack.time[child] = stack.time[depth]
    stack.cost[child] = stack.cost[depth]
    stack.free[child] = stack.free[depth]
    stack.state[child] = stack.state[depth]
    stack.left[child] = stack.left[depth]
    stack.own[child] = stack.own[depth]
    stack.shared[child] = stack.shared[depth]
    stack.taken[child] = stack.taken[depth]
    stack.start[child] = stack.start[depth]


@compiled
def is_whole(stack: Stack, depth: int) -> bool:
    """Tell whether all jobs have ended."""
    for state in stack.state[depth]:
        if state != ENDED:
            return False
    return True


@compiled
def keep(stack: Stack, depth: int, found: Found) -> None:
    """Keep the schedule of a node in which all jobs have ended."""
    found.value[0] = stack.cost[depth]
    found.start[:] = stack.start[depth]
    found.end[:] = stack.left[depth]
    found.taken[:] = stack.taken[depth]


@compiled
def lower(jobs: Jobs, stack: Stack, depth: int) -> float:
    """Bound the sum of all ends from a node on: those that are known, and the areas that are left.

    No start makes a job that runs faster, so none ends before it would if nothing started any more; and none
    that is pending starts before enough GPUs have at most one user then.
    """
    count = len(jobs.demand)
    weight, ends, begins = np.empty(count), np.empty(count), np.empty(count)
    weigh(jobs, stack, depth, weight)
    run_out(jobs, stack, depth, ends)
    wait_for_room(jobs, stack, depth, ends, begins)
    release, left, alone, area = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    size = 0
    for job in range(count):
        if stack.state[depth, job] != ENDED:
            release[size] = begins[job]
            left[size] = stack.left[depth, job]
            alone[size] = ends[job] if stack.state[depth, job] == RUNNING else begins[job] + left[size]
            area[size] = weight[job] * jobs.demand[job] * left[size] / jobs.gpus[0]
            size += 1
    return stack.cost[depth] + area_bound(
        release[:size], left[:size], area[:size], alone[:size], stack.time[depth]
    )


@compiled
def run_out(jobs: Jobs, stack: Stack, depth: int, ends: Array) -> None:
    """Find when the jobs that run would end if nothing started any more."""
    count = len(jobs.demand)
    time = stack.time[depth]
    left = stack.left[depth].copy()
    runs = stack.state[depth] == RUNNING
    slow = np.ones(count)
    while True:
        first, soonest = -1, np.inf
        for job in range(count):
            if runs[job]:
                slow[job] = 1.0
                for other in range(count):
                    if runs[other] and stack.shared[depth, job, other] > 0:
                        slow[job] = max(slow[job], jobs.slowdown[job, other])
                if left[job] * slow[job] < soonest:
                    first, soonest = job, left[job] * slow[job]
        if first < 0:
            return
        for job in range(count):
            if runs[job]:
                left[job] -= soonest / slow[job]
        time += soonest
        ends[first] = time
        runs[first] = False


@compiled
def wait_for_room(jobs: Jobs, stack: Stack, depth: int, ends: Array, begins: Array) -> None:
    """Find before when no pending job can start, by the earliest ends of those that run."""
    count = len(jobs.demand)
    for job in range(count):
        begins[job] = stack.time[depth]
        if stack.state[depth, job] == PENDING:
            begins[job] = max(jobs.release[job], stack.time[depth])
            later = begins[job]
            while later < np.inf:
                begins[job] = later
                later = room_from(jobs, stack, depth, ends, job, later)


@compiled
def room_from(jobs: Jobs, stack: Stack, depth: int, ends: Array, job: int, time: float) -> float:
    """Give when the next GPUs get room for a pending job that finds too few at a time; infinity if it finds them."""
    count = len(jobs.demand)
    room, later = jobs.gpus[0], np.inf
    for one in range(count):
        if stack.state[depth, one] != RUNNING:
            continue
        if stack.own[depth, one] > 0 and ends[one] > time and not jobs.pairs[job, one]:
            room -= stack.own[depth, one]
            later = min(later, ends[one])
        for two in range(one):
            if stack.shared[depth, one, two] > 0:
                until = min(ends[one], ends[two])
                if ends[one] > time and not jobs.pairs[job, one]:
                    until = max(until, ends[one])
                if ends[two] > time and not jobs.pairs[job, two]:
                    until = max(until, ends[two])
                if until > time:
                    room -= stack.shared[depth, one, two]
                    later = min(later, until)
    return np.inf if room >= jobs.demand[job] else later


@compiled
def weigh(jobs: Jobs, stack: Stack, depth: int, weight: Array) -> None:
    """Weigh the jobs of a node for `area_bound`: what is safe for all pairs, then as much more as each leaves.

    Two jobs that run and share no GPU never will.
    """
    count = len(jobs.demand)
    for raising in range(2):
        for job in range(count):
            if stack.state[depth, job] == ENDED:
                continue
            most = 1.0
            for other in range(count):
                if (
                    jobs.pairs[job, other]
                    and stack.state[depth, other] != ENDED
                    and (
                        stack.shared[depth, job, other] > 0
                        or stack.state[depth, job] == PENDING
                        or stack.state[depth, other] == PENDING
                    )
                ):
                    room = jobs.worth[job, other]
                    if raising:
                        room = jobs.slowdown[job, other] * (1 - weight[other] / jobs.slowdown[other, job])
                    most = min(most, room)
            weight[job] = max(most, weight[job]) if raising else most


@compiled
def is_new(jobs: Jobs, stack: Stack, depth: int, table: Table) -> bool:
    """Tell whether the state of a node was not seen before at as low a cost, and note it."""
    count = len(jobs.demand)
    ahead, open_jobs = False, 0
    for job in range(count):
        ahead = ahead or (stack.state[depth, job] == PENDING and jobs.release[job] > stack.time[depth])
        open_jobs += stack.state[depth, job] != ENDED
    time, cost = stack.time[depth], stack.cost[depth]
    if not ahead:  # what follows is the same, only later
        time, cost = 0.0, cost + open_jobs * time
    first, second = 0, 0
    first = (first * _FACTORS[0] + int(time * _GRID)) % _PRIMES[0]
    second = (second * _FACTORS[1] + int(time * _GRID)) % _PRIMES[1]
    for job in range(count):
        state = stack.state[depth, job]
        first = (first * _FACTORS[0] + state) % _PRIMES[0]
        second = (second * _FACTORS[1] + state) % _PRIMES[1]
        if state == RUNNING:
            work = int(stack.left[depth, job] * _GRID)
            first = (first * _FACTORS[0] + work) % _PRIMES[0]
            second = (second * _FACTORS[1] + work) % _PRIMES[1]
            for other in range(job):
                both = stack.shared[depth, job, other]
                first = (first * _FACTORS[0] + both) % _PRIMES[0]
                second = (second * _FACTORS[1] + both) % _PRIMES[1]
            first = (first * _FACTORS[0] + stack.own[depth, job]) % _PRIMES[0]
            second = (second * _FACTORS[1] + stack.own[depth, job]) % _PRIMES[1]
    size = len(table.costs)
    spare = -1
    for probe in range(_PROBES):
        place = (first + probe) % size
        if table.costs[place] == np.inf:
            spare = place if spare < 0 else spare
            break
        if table.keys[place, 0] == first and table.keys[place, 1] == second:
            if table.costs[place] <= cost * (1 + WORK_DONE):
                return False
            table.costs[place] = cost
            return True
    if spare < 0:  # the place of another state that is forgotten
        spare = (first + second % _PROBES) % size
    table.keys[spare, 0], table.keys[spare, 1] = first, second
    table.costs[spare] = cost
    return True
