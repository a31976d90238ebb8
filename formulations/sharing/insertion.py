"""Insertion: what each start at least delays, a bound on what follows from a node of the search, a kernel."""

from typing import Any

import numpy as np

from formulations.sharing.jobs import Jobs
from formulations.sharing.stack import PENDING, RUNNING, Stack, pending
from gsopt.core.numbers.compiled import compiled

Array = np.ndarray[Any, Any]


@compiled
def insertion_bound(
    jobs: Jobs, stack: Stack, depth: int, ends: Array, begins: Array, extra: Array, enough: float
) -> float:
    """Bound the sum of all ends by the delays that each pending job at least brings when it starts.

    If nothing more starts, r runs until e, alone on its GPUs from u on. Let j start at s < e on a GPU of r. At
    u at least e - u of the work of r is left. Where j runs on for as long, r ends at max(u, s) + xi_rj (e -
    max(u, s)) at the earliest; else j has run for xi_jr p_j. While they overlap each of them loses the part 1 -
    1 / xi of the time. The end of j is delayed by the most that a single partner makes it lose. Losses of r by
    several jobs add up where these are never beside it at the same time; if as many as m may be, it loses as
    much as the worst of them makes it lose, so at least an m-th of the sum. Neither the GPUs of r nor the
    pending jobs are fewer than m.

    The start of each job costs no less than where it sees the jobs that run, and no others: the least over all
    times and partners (`insertion`). The larger of two sums over the pending jobs is taken: with an m-th of the
    losses of others each, or with all the losses that one of them brings and none of those of the rest. Jobs
    that run would end at `ends` if nothing started any more; pending jobs cannot start before `begins`. Where
    the first sum is not `enough`, `extra` is set to how much later than alone each pending job ends at least.
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


@compiled
def see_lone(stack: Stack, depth: int, ends: Array, lone: Array, crowd: Array) -> None:
    """Find from when on running jobs would be alone on their GPUs, and how many may join them at once."""
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


@compiled
def insertion(
    jobs: Jobs, stack: Stack, depth: int, ends: Array, lone: Array, begin: float, job: int, crowd: Array
) -> float:
    """Return the least that the start of a pending job costs: its own wait and delay, and part of others'.

    Whenever it starts, it finds enough GPUs that nobody holds, or shares some with running jobs. Between two
    ends of these, the cost of a start beside the same ones is concave in time, so an end of the interval is
    best. If nothing started any more, jobs that run would end at `ends` and have their GPUs to themselves at
    `lone`. `crowd` divides the delay of each running job; with 0 it does not count.
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


@compiled
def see_room(jobs: Jobs, stack: Stack, depth: int, ends: Array, time: float, room: Array) -> int:
    """Find how many GPUs each running job would hold alone at a time; return how many nobody would hold."""
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


@compiled
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
    """Return the least cost, without the wait, of a start between two times that needs GPUs of running jobs.

    For each choice of the job that delays it most, the rest of the GPUs come from jobs that delay it no more,
    where they cost least.
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


@compiled
def weigh_up(
    jobs: Jobs, job: int, other: int, time: float, end: float, lone: float, own: Array, others: Array
) -> None:
    """Find the least by which a job that starts at a time and one that runs delay each other."""
    own_slow, other_slow = jobs.slowdown[job, other], jobs.slowdown[other, job]
    alone = jobs.duration[job] * own_slow
    rest = other_slow * max(end - lone, 0)
    own[other] = min(alone, lone - time + rest) * (1 - 1 / own_slow)
    others[other] = max(0, min(alone - (lone - time), rest)) * (1 - 1 / other_slow)


@compiled
def cover(need: int, room: Array, worst: int, own: Array, others: Array) -> float:
    """Return the least cost of more GPUs, of jobs that delay no more than the worst; infinity if too few."""
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
