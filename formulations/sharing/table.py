"""Table: states that a search has seen, a kernel."""

from typing import Any, NamedTuple

import numpy as np

from formulations.sharing.jobs import Jobs
from formulations.sharing.stack import ENDED, PENDING, RUNNING, Stack
from gsopt.compiled import compiled
from gsopt.tolerances import WORK_DONE

Array = np.ndarray[Any, Any]

#: Two primes below 2**31, so that products of remainders are 64-bit integers, and a factor for each.
_PRIMES, _FACTORS = (2147483647, 2147483629), (1000003, 998244353)

#: Steps of the grid of times and works on which states are compared, in a unit of time.
_GRID = float(2**33)

#: Places of the table that a state may have.
_PROBES = 8


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


def new_table(size: int) -> Table:
    """Give an empty table of so many places."""
    return Table(np.zeros((size, 2), dtype=np.int64), np.full(size, np.inf))


@compiled
def is_new(jobs: Jobs, stack: Stack, depth: int, table: Table) -> bool:
    """Tell whether the state of a node was not seen before at as low a cost, and note it.

    Where no arrival is ahead, what follows is the same at any time, only later.

    A state is known by two remainders of 31 bits each. That any two of a million states have both in common, so
    that one may be left out wrongly, has a chance of about one in ten million.
    """
    time, cost = stack.time[depth], stack.cost[depth]
    if not arrives(jobs, stack, depth):
        for state in stack.state[depth]:
            cost += time * (state != ENDED)
        time = 0.0
    first = remainder(stack, depth, time, _FACTORS[0], _PRIMES[0])
    second = remainder(stack, depth, time, _FACTORS[1], _PRIMES[1])
    size = len(table.costs)
    chosen = (
        first + second % _PROBES
    ) % size  # the place of another state, which is forgotten, if none is free
    for probe in range(_PROBES):
        place = (first + probe) % size
        if table.costs[place] == np.inf:
            chosen = place
            break
        if table.keys[place, 0] == first and table.keys[place, 1] == second:
            if table.costs[place] <= cost * (1 + WORK_DONE):
                return False
            chosen = place
            break
    table.keys[chosen, 0], table.keys[chosen, 1] = first, second
    table.costs[chosen] = cost
    return True


@compiled
def arrives(jobs: Jobs, stack: Stack, depth: int) -> bool:
    """Tell whether a job is still to arrive."""
    for job in range(len(jobs.demand)):
        if stack.state[depth, job] == PENDING and jobs.release[job] > stack.time[depth]:
            return True
    return False


@compiled
def remainder(stack: Stack, depth: int, time: float, factor: int, prime: int) -> int:
    """Give a remainder that differs between states: of the time, and of all that is left of who runs where.

    They are digits of a number, of which a first digit of 1 tells how many there are: without it a state whose
    first digits are 0 would be one that has fewer of them.
    """
    found = (factor + int(time * _GRID)) % prime
    for job in range(stack.state.shape[1]):
        found = (found * factor + stack.state[depth, job]) % prime
        if stack.state[depth, job] == RUNNING:
            found = (found * factor + int(stack.left[depth, job] * _GRID)) % prime
            found = (found * factor + stack.own[depth, job]) % prime
            for other in range(job):
                found = (found * factor + stack.shared[depth, job, other]) % prime
    return found
