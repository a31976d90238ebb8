"""Insertion: a compiled bound for nodes of the search, based on the minimum delay that each start causes."""

from typing import Any

import numpy as np

from formulations.sharing.jobs import Jobs
from formulations.sharing.stack import PENDING, RUNNING, Stack, pending
from gsopt.core.numbers.compiled import inner

Array = np.ndarray[Any, Any]


@inner
def insertion_bound(
    jobs: Jobs, stack: Stack, depth: int, ends: Array, begins: Array, extra: Array, enough: float
) -> float:
    """Return a lower bound on the sum of all ends, based on the minimum delay that each pending start causes.

    Without further starts, a running job r ends at e, and is alone on its GPUs from u on. Let a pending job j
    of duration p_j start at s < e on a GPU of r. Let xi_jr be the slowdown of j by r, and xi_rj that of r by j.
    At v = max(u, s), at least e - v of the work of r is left. The jobs share until j ends, which takes at least
    xi_jr p_j, or until r ends, no earlier than v + xi_rj (e - v). While they share, each of them loses at least
    the fraction 1 - 1 / xi of the time; losses of r are counted from v on. The end of j is delayed by at least
    the largest loss that a single partner causes. Losses of r caused by several jobs add up if these never
    share with it at the same time. If up to m of them may, r loses as much as the worst of them causes, hence
    at least an m-th of the sum. Here, m is at most the number of GPUs of r and the number of pending jobs.

    Each start costs at least its cost among the running jobs only, minimized over times and partners
    (`insertion`). The result is the larger of two sums over the pending jobs. The first counts an m-th of the
    losses that each of them causes to others. The second counts all losses that one of the pending jobs causes,
    and none caused by the rest. Without further starts, running jobs end at `ends`. Pending jobs cannot start
    before `begins`. If the first sum is at least `enough`, it is returned at once. Otherwise, `extra` is set to
    the minimum delay of each pending job's own end.
    """
    count = len(jobs.demand)
    lone, crowd = np.zeros_like(ends), np.zeros(count, dtype=np.int64)
    see_lone(stack, depth, ends, lone, crowd)
    alone: float = stack.cost[depth]
    for job in range(count):
        if stack.state[depth, job] == RUNNING:
            alone += ends[job]
        elif stack.state[depth, job] == PENDING:
            alone += begins[job] + jobs.duration[job]
    bound: float = alone
    most: float = jobs.release[0] * 0
    for job in range(count):
        if stack.state[depth, job] == PENDING and bound < enough:
            bound += insertion(jobs, stack, depth, ends, lone, begins[job], job, crowd)
    if bound >= enough:
        return bound
    nothing, whole = np.zeros_like(crowd), np.ones_like(crowd)
    for job in range(count):
        if stack.state[depth, job] == PENDING:
            extra[job] = insertion(jobs, stack, depth, ends, lone, begins[job], job, nothing)
            alone += extra[job]
            star = insertion(jobs, stack, depth, ends, lone, begins[job], job, whole)
            most = max(most, star - extra[job])
    return max(bound, alone + most)


@inner
def see_lone(stack: Stack, depth: int, ends: Array, lone: Array, crowd: Array) -> None:
    """Compute when each running job is alone without further starts, and how many jobs may then join it."""
    count = len(ends)
    waiting = pending(stack, depth)
    for one in range(count):
        lone[one] = stack.time[depth]
        gpus = stack.own[depth, one]
        for two in range(count):
            if stack.shared[depth, one, two] > 0:
                gpus += stack.shared[depth, one, two]
                lone[one] = max(lone[one], min(ends[one], ends[two]))
        crowd[one] = max(1, min(gpus, waiting))


@inner
def insertion(
    jobs: Jobs, stack: Stack, depth: int, ends: Array, lone: Array, begin: float, job: int, crowd: Array
) -> float:
    """Return the minimum cost of starting a pending job: its own wait and delay, and part of the others' delay.

    At its start, the job finds enough free GPUs, or shares some with running jobs. Between two ends of running
    jobs, the cost of starting next to the same jobs is concave in time, so an endpoint of the interval is best.
    Without further starts, running jobs end at `ends` and have their GPUs to themselves from `lone` on. The
    delay of each running job is divided by its entry in `crowd`, or ignored if the entry is 0.
    """
    best, left = np.inf, begin
    room = np.empty(len(ends), dtype=np.int64)
    while left - begin < best:
        need = jobs.demand[job] - see_room(jobs, stack, depth, ends, left, room)
        if need <= 0:
            return left - begin
        right = np.inf
        for other in range(len(ends)):
            if stack.state[depth, other] == RUNNING and ends[other] > left:
                right = min(right, ends[other])
            if not jobs.pairs[job, other]:
                room[other] = 0
        best = min(best, left - begin + beside(jobs, job, need, room, ends, lone, crowd, left, right))
        left = right
    return best


@inner
def see_room(jobs: Jobs, stack: Stack, depth: int, ends: Array, time: float, room: Array) -> int:
    """Compute how many GPUs each running job holds alone at a given time, and return how many are free.

    This is the state at that time if no further jobs start.
    """
    count = len(ends)
    free = jobs.gpus[0]
    for one in range(count):
        room[one] = 0
        if stack.state[depth, one] == RUNNING and ends[one] > time:
            room[one] = stack.own[depth, one]
            for two in range(count):
                if stack.shared[depth, one, two] > 0:
                    if ends[two] <= time:
                        room[one] += stack.shared[depth, one, two]
                    elif two < one:
                        free -= stack.shared[depth, one, two]
            free -= room[one]
    return int(free)


@inner
def beside(
    jobs: Jobs,
    job: int,
    need: int,
    room: Array,
    ends: Array,
    lone: Array,
    crowd: Array,
    left: float,
    right: float,
) -> float:
    """Return the minimum cost of a start on GPUs of running jobs in an interval, not counting earlier waiting.

    Each running job is tried as the worst partner. The remaining GPUs then come, at minimum cost, from running
    jobs that delay the starting job at most as much as the worst partner does.
    """
    count = len(ends)
    own, others = np.zeros((2, count), dtype=ends.dtype), np.zeros((2, count), dtype=ends.dtype)
    for each in range(count):
        if room[each] > 0:
            weigh_up(jobs, job, each, left, ends[each], max(lone[each], left), own[0], others[0])
            weigh_up(jobs, job, each, right, ends[each], max(lone[each], right), own[1], others[1])
            if lone[each] > left:
                others[1, each] = others[0, each]
            for side in range(2):
                if crowd[each] > 0:
                    others[side, each] = others[side, each] / int(crowd[each])
                else:
                    others[side, each] = others[side, each] * 0
    best = np.inf
    for worst in range(count):
        if room[worst] > 0 and own[0, worst] < best:
            for side in range(2):
                cost = own[side, worst] + others[side, worst] + side * (right - left)
                if cost < best:
                    cost += cover(need - room[worst], room, worst, own[0], others[side])
                    best = min(best, cost)
    return best


@inner
def weigh_up(
    jobs: Jobs, job: int, other: int, time: float, end: float, lone: float, own: Array, others: Array
) -> None:
    """Compute the minimum delays that a starting job and a running job cause each other."""
    own_slow, other_slow = jobs.slowdown[job, other], jobs.slowdown[other, job]
    alone = jobs.duration[job] * own_slow
    rest = other_slow * max(end - lone, 0)
    own[other] = min(alone, lone - time + rest) * (1 - 1 / own_slow)
    others[other] = max(0, min(alone - (lone - time), rest)) * (1 - 1 / other_slow)


@inner
def cover(need: int, room: Array, worst: int, own: Array, others: Array) -> float:
    """Return the minimum cost of the GPUs still needed, taken from partners no worse than the worst one.

    Such partners delay the starting job no more than `worst` does. Their own delay is spread evenly over their
    GPUs. The cost is infinite if they do not hold enough GPUs.
    """
    cost, last, before = own[worst] * 0, own[worst] * 0 - 1, -1
    while need > 0:
        least, chosen = np.inf, -1
        for each in range(len(room)):
            if room[each] > 0 and each != worst and own[each] <= own[worst]:
                ratio = others[each] / int(room[each])
                behind = ratio > last or (ratio == last and each > before)
                if behind and ratio < least:
                    least, chosen = ratio, each
        if chosen < 0:
            return np.inf
        cost += least * int(min(need, room[chosen]))
        need -= room[chosen]
        last, before = least, chosen
    found: float = cost
    return found
