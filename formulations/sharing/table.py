"""Table: a hash table of the states that a search has seen, as compiled kernels."""

from typing import Any, NamedTuple

import numpy as np

from formulations.sharing.jobs import Jobs
from formulations.sharing.stack import ENDED, PENDING, RUNNING, Stack, has_come
from gsopt.core.numbers.compiled import inner

Array = np.ndarray[Any, Any]

#: Factor of the hash function.
_FACTOR = 1000003

#: Number of entries of the table in which a given state may be stored.
_PROBES = 8


class StateTable(NamedTuple):
    """States seen so far, stored completely, and the minimum cost of each; old ones may be overwritten."""

    keys: Array  # hash of each state
    # for each job, on how many GPUs it runs alone (-1 if it has ended, -2 if it is pending), and then how
    # many it shares with each job before it
    counts: Array
    # remaining time of each running job if nothing changes (meaningless for other jobs), and last the time,
    # or -1 if no arrivals are left
    times: Array
    rests: Array  # `times` as remainders
    costs: Array  # upper bound on the minimum cost of each state; infinity if an entry is free
    cost_rests: Array  # the minimum cost as remainders


def new_table(jobs: Jobs, size: int) -> StateTable:
    """Return an empty table with the given number of entries."""
    count, primes, kind = len(jobs.demand), len(jobs.primes), jobs.release.dtype
    return StateTable(
        keys=np.zeros(size, dtype=np.int64),
        counts=np.zeros((size, count * (count + 1) // 2), dtype=np.int16),
        times=np.zeros((size, count + 1), dtype=kind),
        rests=np.zeros((size, count + 1, primes), dtype=np.int32),
        costs=np.full(size, np.inf, dtype=kind),
        cost_rests=np.zeros((size, primes), dtype=np.int32),
    )


def table_within(jobs: Jobs, memory: int) -> StateTable:
    """Return an empty table that fits into the given number of bytes, with at least one entry."""
    place = sum(column.nbytes for column in new_table(jobs, 1))
    return new_table(jobs, max(1, memory // place))


@inner
def is_new(jobs: Jobs, stack: Stack, depth: int, table: StateTable) -> bool:
    """Check that the state of a node was not seen before at the same or a lower cost; if so, record it.

    If no arrivals are left, it does not matter when a state is reached: the same schedules can follow, merely
    shifted in time. The cost of a state is therefore the sum of the ends so far, plus the current time for each
    job that has not ended. A state counts as seen only if it is provably equal to a recorded one.
    """
    count, cost, ahead = len(jobs.demand), stack.cost[depth], arrives(jobs, stack, depth)
    cost += unfinished(stack, depth) * stack.time[depth]
    slip = count * (stack.slip[depth, 1] + jobs.rounding[0] * cost)
    if slip > 0 and 16 * slip >= jobs.near[0]:
        return True
    key = remainder(jobs, stack, depth, ahead)
    size = len(table.costs)
    chosen = (key + key // size % _PROBES) % size  # of another state, which is forgotten, if none is free
    for probe in range(_PROBES):
        place = (key + probe) % size
        if table.costs[place] == np.inf:
            chosen = place
            break
        if table.keys[place] == key and is_same(jobs, stack, depth, ahead, table, place):
            if table.costs[place] < cost - slip or is_equal(jobs, stack, depth, table, place, cost):
                return False
            chosen = place
            break
    table.keys[chosen] = key
    note(jobs, stack, depth, ahead, table, chosen)
    table.costs[chosen] = cost + slip
    return True


@inner
def arrives(jobs: Jobs, stack: Stack, depth: int) -> bool:
    """Check whether any job has yet to arrive."""
    for job in range(len(jobs.demand)):
        if stack.state[depth, job] == PENDING and not has_come(jobs, stack, depth, job):
            return True
    return False


@inner
def is_same(  # noqa: C901, PLR0911 - compiled, one pass over a state
    jobs: Jobs, stack: Stack, depth: int, ahead: bool, table: StateTable, place: int
) -> bool:
    """Check whether the state at an index of the table is provably that of a node."""
    count, at, near = len(jobs.demand), 0, jobs.near[0] / 4
    now, rests = stack.time[depth], stack.time_rest[depth]
    for job in range(count):
        if table.counts[place, at] != alone_of(stack, depth, job):
            return False
        for other in range(job):
            if table.counts[place, at + other + 1] != stack.shared[depth, job, other]:
                return False
        at += job + 1
        if stack.state[depth, job] == RUNNING:
            if abs(table.times[place, job] - (stack.due[depth, job] - now)) > near:
                return False
            for rest in range(len(rests)):
                due = stack.due_rest[depth, job, rest]
                if table.rests[place, job, rest] != (due - rests[rest]) % jobs.primes[rest]:
                    return False
    if not ahead:
        return bool(table.times[place, count] < 0)
    if abs(table.times[place, count] - now) > near:
        return False
    for rest in range(len(rests)):  # noqa: SIM110 - compiled
        if table.rests[place, count, rest] != rests[rest]:
            return False
    return True


@inner
def is_equal(jobs: Jobs, stack: Stack, depth: int, table: StateTable, place: int, cost: float) -> bool:
    """Check whether the cost at an index of the table is provably that of a node."""
    if abs(table.costs[place] - cost) > jobs.near[0] / 4:
        return False
    left = unfinished(stack, depth)
    for rest in range(len(jobs.primes)):
        total = stack.cost_rest[depth, rest] + left * stack.time_rest[depth, rest]
        if table.cost_rests[place, rest] != total % jobs.primes[rest]:
            return False
    return True


@inner
def note(jobs: Jobs, stack: Stack, depth: int, ahead: bool, table: StateTable, place: int) -> None:
    """Write the state of a node, and its cost modulo each prime, at the given index of the table."""
    count, at = len(jobs.demand), 0
    now, rests = stack.time[depth], stack.time_rest[depth]
    left = unfinished(stack, depth)
    for rest in range(len(rests)):
        total = stack.cost_rest[depth, rest] + left * rests[rest]
        table.cost_rests[place, rest] = total % jobs.primes[rest]
        table.rests[place, count, rest] = rests[rest]
    table.times[place, count] = now if ahead else now * 0 - 1
    for job in range(count):
        table.counts[place, at] = alone_of(stack, depth, job)
        for other in range(job):
            table.counts[place, at + other + 1] = stack.shared[depth, job, other]
        at += job + 1
        if stack.state[depth, job] == RUNNING:
            table.times[place, job] = stack.due[depth, job] - now
            for rest in range(len(rests)):
                due = stack.due_rest[depth, job, rest]
                table.rests[place, job, rest] = (due - rests[rest]) % jobs.primes[rest]


@inner
def alone_of(stack: Stack, depth: int, job: int) -> int:
    """Return the number of GPUs on which a job runs alone, or a negative number if the job is not running."""
    if stack.state[depth, job] == RUNNING:
        return int(stack.own[depth, job])
    return -1 if stack.state[depth, job] == ENDED else -2


@inner
def unfinished(stack: Stack, depth: int) -> int:
    """Return the number of jobs that have not ended."""
    found = 0
    for state in stack.state[depth]:
        found += state != ENDED
    return int(found)


@inner
def remainder(jobs: Jobs, stack: Stack, depth: int, ahead: bool) -> int:
    """Return a hash of the state of a node."""
    prime, now = jobs.primes[0], stack.time_rest[depth, 0]
    found = now if ahead else prime - 1
    for job in range(len(jobs.demand)):
        found = (found * _FACTOR + alone_of(stack, depth, job) + 2) % prime
        if stack.state[depth, job] == RUNNING:
            due = stack.due_rest[depth, job, 0] - now
            found = (found * _FACTOR + due) % prime
            for other in range(job):
                found = (found * _FACTOR + stack.shared[depth, job, other]) % prime
    return int(found)
