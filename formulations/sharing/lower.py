"""Lower: a compiled lower bound on the value of all schedules below a node of the search."""

from typing import Any

import numpy as np

from formulations.sharing.areas import area_bound
from formulations.sharing.insertion import insertion_bound
from formulations.sharing.jobs import Jobs
from formulations.sharing.stack import ENDED, PENDING, RUNNING, Stack
from gsopt.core.numbers.compiled import inner

Array = np.ndarray[Any, Any]


@inner
def lower(jobs: Jobs, stack: Stack, depth: int, enough: float) -> float:
    """Return the larger of an insertion bound and an area bound on the sum of all ends below a node.

    No start makes a running job faster, so no running job ends earlier than without further starts. Nor can a
    pending job start before there would be enough GPUs, without further starts, that are free or have a single
    user with which it may share. If the insertion bound is at least `enough`, the area bound is not computed.
    """
    count, given = len(jobs.demand), stack.due[depth]
    ends, begins, extra = np.zeros_like(given), np.zeros_like(given), np.zeros_like(given)
    run_out(jobs, stack, depth, ends)
    wait_for_room(jobs, stack, depth, ends, begins)
    bound = insertion_bound(jobs, stack, depth, ends, begins, extra, enough)
    if bound >= enough:
        return bound
    weights, areas = np.zeros_like(stack.due[:2]), np.zeros_like(stack.due[:2])
    weigh(jobs, stack, depth, weights)
    release, left, alone = np.zeros_like(given), np.zeros_like(given), np.zeros_like(given)
    size = 0
    for job in range(count):
        if stack.state[depth, job] != ENDED:
            release[size], left[size] = begins[job], stack.left[depth, job]
            alone[size] = ends[job]
            if stack.state[depth, job] == PENDING:
                alone[size] = begins[job] + left[size] + extra[job]
            for way in range(2):
                areas[way, size] = weights[way, job] * jobs.share[job] * left[size]
            size += 1
    now = stack.time[depth]
    area = area_bound(release[:size], left[:size], areas[:, :size], alone[:size], now)
    found: float = max(bound, stack.cost[depth] + area)
    return found


@inner
def weigh(jobs: Jobs, stack: Stack, depth: int, weights: Array) -> None:
    """Weigh the jobs of a node for `area_bound` in two ways: equal weights, and largest jobs first.

    The first way computes the largest weight that both jobs of each pair could have, gives each job the
    smallest of these weights over its pairs, and then raises one weight after another by as much as the others
    allow. The second way gives each job the largest weight that the jobs before it leave. Two running jobs that
    share no GPU never will, so they do not limit each other.
    """
    count = len(jobs.demand)
    for sweep in range(3):
        way = sweep // 2
        for each in range(count):
            job = each if sweep <= 1 else count - 1 - each
            if stack.state[depth, job] == ENDED:
                continue
            most = jobs.slowdown[job, count]
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
                    if sweep > 0:
                        room = jobs.slowdown[job, other] * (1 - weights[way, other] / jobs.slowdown[other, job])
                    most = min(most, room)
            weights[way, job] = max(most, weights[way, job])


@inner
def run_out(jobs: Jobs, stack: Stack, depth: int, ends: Array) -> None:
    """Compute when the running jobs would end without further starts."""
    count = len(jobs.demand)
    due, state, worst = stack.due[depth].copy(), stack.state[depth].copy(), stack.worst[depth].copy()
    while True:
        first, soonest = -1, np.inf
        for job in range(count):
            if state[job] == RUNNING and due[job] < soonest:
                first, soonest = job, due[job]
        if first < 0:
            return
        ends[first] = soonest
        state[first] = ENDED
        for job in range(count):
            if state[job] == RUNNING and worst[job] == first:
                before, worst[job] = jobs.slowdown[job, first], count
                for other in range(count):
                    slow = jobs.slowdown[job, other]
                    shares = state[other] == RUNNING and stack.shared[depth, job, other] > 0
                    if shares and slow > jobs.slowdown[job, worst[job]]:
                        worst[job] = other
                ratio = jobs.slowdown[job, worst[job]] / before
                due[job] = soonest + max(due[job] - soonest, 0) * ratio


@inner
def wait_for_room(jobs: Jobs, stack: Stack, depth: int, ends: Array, begins: Array) -> None:
    """Compute the earliest possible start of each pending job, given the earliest ends of running jobs."""
    count = len(jobs.demand)
    for job in range(count):
        begins[job] = stack.time[depth]
        if stack.state[depth, job] == PENDING:
            begins[job] = max(jobs.release[job], stack.time[depth])
            later = begins[job]
            while later < np.inf:
                begins[job] = later
                later = room_from(jobs, stack, depth, ends, job, later)


@inner
def room_from(jobs: Jobs, stack: Stack, depth: int, ends: Array, job: int, time: float) -> float:
    """Return the next time after `time` at which more GPUs have room for a pending job.

    The result is infinity if enough GPUs have room at `time` already.
    """
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
