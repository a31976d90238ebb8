"""Search: a depth-first search over starts at events, in exact fractions or compiled floating point."""

from typing import Any, NamedTuple

import numpy as np

from formulations.sharing.jobs import Jobs
from formulations.sharing.lower import lower
from formulations.sharing.stack import ENDED, PENDING, RUNNING, Stack, copy_node, has_come, is_whole, pending
from formulations.sharing.table import StateTable, is_new
from gsopt.core.numbers.compiled import compiled, inner

Array = np.ndarray[Any, Any]

#: Answers to the question whether one number is less than another. `DOUBT` means that floats cannot tell.
YES, NO, DOUBT = 1, 0, -1


class FoundSchedule(NamedTuple):
    """The best schedule found by a search."""

    # value, rest: the sum of its ends, in an array of one, and as remainders; infinity if there is none
    value: Array
    rest: Array
    begun: Array  # how many times time passes to the next event before each job starts
    # for each job, how many GPUs it shares with each job at its start, and last how many free GPUs it takes
    taken: Array


def nothing_found(jobs: Jobs, value: Any = np.inf, rest: Array | None = None) -> FoundSchedule:
    """Return the record of a search that has found no schedule yet.

    If the value of a known schedule is given, the search has to find a better one.
    """
    count = len(jobs.demand)
    return FoundSchedule(
        np.array([value], dtype=jobs.release.dtype),
        np.full(len(jobs.primes), -1) if rest is None else rest.copy(),
        np.zeros(count, dtype=np.int64),
        np.zeros((count, count + 1), dtype=np.int64),
    )


@compiled
def search(jobs: Jobs, stack: Stack, table: StateTable, found: FoundSchedule, nodes: int) -> int:
    """Continue the search for at most `nodes` nodes, and return how many it visited.

    At an event, either one more job starts on some number of GPUs of each class, or time passes to the next
    event. Jobs that start at the same time do so in ascending order of their numbers. The classes are the free
    GPUs, and the GPUs that a given job holds alone. GPUs of a class are interchangeable, so only their number
    is chosen. For the last start, even fewer choices are tried (`is_least`). A node is pruned if its bound is
    not below the value of the best schedule. A node in which time has passed is also pruned if its state was
    seen before at no higher cost. Two nodes have the same state if the same jobs have the same remaining work
    on the same numbers of shared GPUs, at the same time unless no arrivals are left.

    The search returns early when it finds a better schedule. In fractions, it is exact. In floats, it also
    returns, with `doubt` set, if it cannot tell whether two events coincide, or whether a schedule is better
    than the best one. In this case, what follows the current node when time passes is searched in fractions
    (`formulations.sharing.events`). Bounds are weakened by their rounding errors, so no better schedule is
    pruned.
    """
    count = len(jobs.demand)
    for visited in range(nodes):
        depth = stack.depth[0]
        if depth < 0 or stack.doubt[0]:
            return visited
        job = next_start(jobs, stack, depth)
        if job >= 0:
            begin(jobs, stack, depth, job)
        elif stack.cursor[depth] == count:
            stack.cursor[depth] += 1
            passes = advance(jobs, stack, depth)
            stack.doubt[0] = passes == DOUBT
            if passes != YES:
                continue
        else:
            stack.depth[0] -= 1
            continue
        depth += 1
        stack.fresh[depth] = True
        if is_whole(stack, depth):
            better = is_better(jobs, stack, depth, found)
            stack.doubt[0] = better == DOUBT
            if better == YES:
                keep(stack, depth, found)
                return visited + 1
            continue
        enough = found.value[0] + margin(jobs, stack, depth, found)
        if lower(jobs, stack, depth, enough) < enough and (job >= 0 or is_new(jobs, stack, depth, table)):
            stack.depth[0] = depth
    return nodes


@inner
def margin(jobs: Jobs, stack: Stack, depth: int, found: FoundSchedule) -> float:
    """Return the possible rounding error of a bound, which is a sum of one term per job.

    Each term takes a few operations on completion times, which may multiply an error by the largest
    slowdown.
    """
    count, slip = len(jobs.demand), stack.slip[depth, 1]
    if found.value[0] < np.inf:
        slip += count * jobs.rounding[0] * found.value[0]
    wrong: float = 4 * count * count * jobs.rounding[1] * slip
    return wrong


@inner
def is_better(jobs: Jobs, stack: Stack, depth: int, found: FoundSchedule) -> int:
    """Check whether a node's complete schedule is better than the best one; the answer may be `DOUBT`."""
    cost, best = stack.cost[depth], found.value[0]
    slip = len(jobs.demand) * (stack.slip[depth, 1] + jobs.rounding[0] * cost)
    if cost + slip < best - slip:
        return YES
    if cost - slip >= best + slip:
        return NO
    if 4 * slip >= jobs.near[0]:
        return DOUBT
    for rest in range(len(jobs.primes)):
        if stack.cost_rest[depth, rest] != found.rest[rest]:
            return DOUBT
    return NO


@inner
def next_start(jobs: Jobs, stack: Stack, depth: int) -> int:
    """Write the next start of a node to its `taken`, and return the job that starts, or -1 if none is left."""
    count = len(jobs.demand)
    while stack.cursor[depth] < count:
        job = stack.cursor[depth]
        if stack.state[depth, job] == PENDING and has_come(jobs, stack, depth, job):
            last = pending(stack, depth) == 1
            while next_choice(jobs, stack, depth, job):
                if not last or is_least(jobs, stack, depth, job):
                    return int(job)
        stack.cursor[depth] += 1
        stack.fresh[depth] = True
    return -1


@inner
def is_least(jobs: Jobs, stack: Stack, depth: int, job: int) -> bool:
    """Check whether the last start needs all of its partners, and is the first to be tried with them.

    If no other start follows, it does not matter how many GPUs a job shares with each partner, and fewer
    partners are no worse.
    """
    count = len(jobs.demand)
    taken, spare = stack.taken[depth, job], 0
    for other in range(count):  # only of the lowest class may GPUs be left
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


@inner
def next_choice(jobs: Jobs, stack: Stack, depth: int, job: int) -> bool:
    """Choose the next set of GPUs for the start of a job, free ones first, and return whether there is one."""
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


@inner
def begin(jobs: Jobs, stack: Stack, depth: int, job: int) -> None:
    """Write the child node in which a job starts."""
    child = depth + 1
    copy_node(stack, depth)
    count = stack.state.shape[1]
    stack.cursor[child] = job + 1
    stack.state[child, job] = RUNNING
    stack.begun[child, job] = stack.steps[depth]
    stack.free[child] -= stack.taken[depth, job, count]
    stack.own[child, job] = stack.taken[depth, job, count]
    now, worst, slip = stack.time[depth], count, stack.slip[depth, 1]
    for other in range(count):
        both = stack.taken[depth, job, other]
        if both > 0:
            stack.own[child, other] -= both
            stack.shared[child, job, other] = both
            stack.shared[child, other, job] = both
            if jobs.slowdown[job, other] > jobs.slowdown[job, worst]:
                worst = other
            before = jobs.slowdown[other, stack.worst[depth, other]]
            if jobs.slowdown[other, job] > before:
                slow_down(jobs, stack, child, other, job)
                growth = jobs.slowdown[other, job] / before
                slip = max(slip, (2 * growth - 1) * stack.slip[depth, 1])
    stack.worst[child, job] = worst
    stack.due[child, job] = now + jobs.duration[job] * jobs.slowdown[job, worst]
    for rest in range(len(jobs.primes)):
        work = jobs.duration_rest[job, rest] * jobs.slow_rest[job, worst, rest] % jobs.primes[rest]
        stack.due_rest[child, job, rest] = (stack.time_rest[depth, rest] + work) % jobs.primes[rest]
    stack.slip[child, 1] = slip
    see_left(jobs, stack, child)


@inner
def slow_down(jobs: Jobs, stack: Stack, depth: int, job: int, partner: int) -> None:
    """Change the slowdown of a job, from now on, to that caused by a partner, and adjust the job's end."""
    now, before = stack.time[depth], stack.worst[depth, job]
    ratio = jobs.slowdown[job, partner] / jobs.slowdown[job, before]
    stack.due[depth, job] = now + (stack.due[depth, job] - now) * ratio
    stack.worst[depth, job] = partner
    for rest in range(len(jobs.primes)):
        prime, since = jobs.primes[rest], stack.time_rest[depth, rest]
        changed = jobs.slow_rest[job, partner, rest] * jobs.fast_rest[job, before, rest] % prime
        behind = (stack.due_rest[depth, job, rest] - since) * changed
        stack.due_rest[depth, job, rest] = (since + behind) % prime


@inner
def see_left(jobs: Jobs, stack: Stack, depth: int) -> None:
    """Compute the remaining work of the running jobs, and the possible error of their ends."""
    far = stack.time[depth]
    for job in range(len(jobs.demand)):
        if stack.state[depth, job] == RUNNING:
            slow = jobs.slowdown[job, stack.worst[depth, job]]
            stack.left[depth, job] = max(stack.due[depth, job] - stack.time[depth], 0) / slow
            far = max(far, stack.due[depth, job])
    stack.slip[depth, 1] += jobs.rounding[0] * far


@inner
def advance(jobs: Jobs, stack: Stack, depth: int) -> int:
    """Write the child node in which time passes to the next event, and return whether there is one.

    The answer is `DOUBT` if floats cannot tell whether two events coincide.
    """
    child = depth + 1
    count = len(jobs.demand)
    first, job = np.inf, -1
    for each in range(count):
        state = stack.state[depth, each]
        if state == RUNNING and stack.due[depth, each] < first:
            first, job = stack.due[depth, each], each
        elif state == PENDING and not has_come(jobs, stack, depth, each) and jobs.release[each] < first:
            first, job = jobs.release[each], each
    if job < 0:
        return NO
    ends = stack.state[depth, job] == RUNNING
    copy_node(stack, depth)
    stack.cursor[child] = 0
    stack.steps[child] += 1
    stack.time[child] = first
    stack.slip[child, 0] = stack.slip[depth, 1] + jobs.rounding[0] * first
    stack.slip[child, 1] = stack.slip[child, 0]
    for rest in range(len(jobs.primes)):
        event = stack.due_rest[depth, job, rest] if ends else jobs.release_rest[job, rest]
        stack.time_rest[child, rest] = event
    for each in range(count):
        state = stack.state[depth, each]
        if state == RUNNING and stack.due[depth, each] <= first + 2 * stack.slip[child, 0]:
            if not is_now(jobs, stack, child, stack.due_rest[depth, each]):
                return DOUBT
            leave(jobs, stack, child, each)
        elif (
            state == PENDING
            and has_come(jobs, stack, child, each)
            and not has_come(jobs, stack, depth, each)
            and not is_now(jobs, stack, child, jobs.release_rest[each])
        ):
            return DOUBT
    see_left(jobs, stack, child)
    return YES


@inner
def is_now(jobs: Jobs, stack: Stack, depth: int, rests: Array) -> bool:
    """Check by remainders whether an event provably occurs at a node's time.

    The time of the event is already known to be within the rounding error of the node's time.
    """
    slip = stack.slip[depth, 0]
    if slip > 0 and 8 * slip >= jobs.near[0]:
        return False
    for rest in range(len(rests)):  # noqa: SIM110 - compiled
        if stack.time_rest[depth, rest] != rests[rest]:
            return False
    return True


@inner
def leave(jobs: Jobs, stack: Stack, depth: int, job: int) -> None:
    """End a job in a node of the search tree, and adjust the speeds of the job's partners."""
    count = stack.state.shape[1]
    stack.state[depth, job] = ENDED
    stack.cost[depth] += stack.time[depth]
    for rest in range(len(jobs.primes)):
        total = stack.cost_rest[depth, rest] + stack.time_rest[depth, rest]
        stack.cost_rest[depth, rest] = total % jobs.primes[rest]
    stack.free[depth] += stack.own[depth, job]
    stack.own[depth, job] = 0
    for other in range(count):
        both = stack.shared[depth, job, other]
        if both > 0:
            stack.shared[depth, job, other] = 0
            stack.shared[depth, other, job] = 0
            stack.own[depth, other] += both
            if stack.state[depth, other] == RUNNING and stack.worst[depth, other] == job:
                worst = count
                for each in range(count):
                    slow = jobs.slowdown[other, each]
                    if stack.shared[depth, other, each] > 0 and slow > jobs.slowdown[other, worst]:
                        worst = each
                slow_down(jobs, stack, depth, other, worst)


@inner
def keep(stack: Stack, depth: int, found: FoundSchedule) -> None:
    """Store the schedule of a node in which all jobs have ended."""
    found.value[0] = stack.cost[depth]
    for rest in range(len(found.rest)):
        found.rest[rest] = stack.cost_rest[depth, rest]
    count = len(found.begun)
    for job in range(count):
        found.begun[job] = stack.begun[depth, job]
        for other in range(count + 1):
            found.taken[job, other] = stack.taken[depth, job, other]
