"""Table: states that a search has seen, a kernel."""

from typing import Any, NamedTuple

import numpy as np

from formulations.sharing.jobs import Jobs
from formulations.sharing.stack import ENDED, PENDING, RUNNING, Stack, has_come
from gsopt.compiled import compiled

Array = np.ndarray[Any, Any]

#: A factor for each prime.
_FACTORS = (1000003, 998244353)

#: Places of the table that a state may have.
_PROBES = 8


class Table(NamedTuple):
    """States that were seen, by two remainders, and the least cost of each.

    Attributes
    ----------
    keys
        Two remainders of each state.
    costs
        What its least cost is at most, infinity where a place is free.
    rests
        That cost as remainders.
    """

    keys: Array
    costs: Array
    rests: Array


def new_table(jobs: Jobs, size: int) -> Table:
    """Give an empty table of so many places."""
    return Table(
        np.zeros((size, 2), dtype=np.int64),
        np.full(size, np.inf, dtype=jobs.release.dtype),
        np.zeros((size, len(jobs.primes)), dtype=np.int64),
    )


@compiled
def is_new(  # noqa: C901 - one pass over the places of a state
    jobs: Jobs, stack: Stack, depth: int, table: Table
) -> bool:
    """Tell whether the state of a node was not seen before at as low a cost, and note it.

    Where no arrival is ahead, what follows is the same at any time, only later.

    A state is known by two remainders of 31 bits each. That any two of a million states have both in common, so
    that one may be left out wrongly, has a chance of about one in ten million.
    """
    count, cost, ahead = len(jobs.demand), stack.cost[depth], arrives(jobs, stack, depth)
    if not ahead:
        for state in stack.state[depth]:
            if state != ENDED:
                cost += stack.time[depth]
    slip = count * (stack.slip[depth, 1] + jobs.rounding[0] * cost)
    first = remainder(jobs, stack, depth, ahead, 0)
    second = remainder(jobs, stack, depth, ahead, 1)
    size = len(table.costs)
    chosen = (first + second % _PROBES) % size  # of another state, which is forgotten, if none is free
    for probe in range(_PROBES):
        place = (first + probe) % size
        if table.costs[place] == np.inf:
            chosen = place
            break
        if table.keys[place, 0] == first and table.keys[place, 1] == second:
            if table.costs[place] < cost - slip:
                return False
            same = 0
            for rest in range(len(jobs.primes)):
                same += table.rests[place, rest] == cost_rest(jobs, stack, depth, ahead, rest)
            if same == len(jobs.primes):
                return False
            chosen = place
            break
    table.keys[chosen, 0], table.keys[chosen, 1] = first, second
    table.costs[chosen] = cost + slip
    for rest in range(len(jobs.primes)):
        table.rests[chosen, rest] = cost_rest(jobs, stack, depth, ahead, rest)
    return True


@compiled
def arrives(jobs: Jobs, stack: Stack, depth: int) -> bool:
    """Tell whether a job is still to arrive."""
    for job in range(len(jobs.demand)):
        if stack.state[depth, job] == PENDING and not has_come(jobs, stack, depth, job):
            return True
    return False


@compiled
def cost_rest(jobs: Jobs, stack: Stack, depth: int, ahead: bool, rest: int) -> int:
    """Give a remainder of the cost by which a state is judged: without arrivals ahead, that at time 0."""
    found = stack.cost_rest[depth, rest]
    if not ahead:
        for state in stack.state[depth]:
            if state != ENDED:
                found += stack.time_rest[depth, rest]
    return int(found % jobs.primes[rest])


@compiled
def remainder(jobs: Jobs, stack: Stack, depth: int, ahead: bool, rest: int) -> int:
    """Give a remainder that differs between states: of the time, and of all that is left of who runs where.

    They are digits of a number, of which a first digit of 1 tells how many there are: without it a state whose
    first digits are 0 would be one that has fewer of them. Without arrivals ahead the time does not count.
    """
    factor, prime = _FACTORS[rest], jobs.primes[rest]
    found = factor
    if ahead:
        found = (found + stack.time_rest[depth, rest]) % prime
    for job in range(stack.state.shape[1]):
        found = (found * factor + stack.state[depth, job]) % prime
        if stack.state[depth, job] == RUNNING:
            due = stack.due_rest[depth, job, rest] - stack.time_rest[depth, rest]
            found = (found * factor + due) % prime
            found = (found * factor + stack.own[depth, job]) % prime
            for other in range(job):
                found = (found * factor + stack.shared[depth, job, other]) % prime
    return int(found)
