"""Searching: the least sum of ends from a node of the search on, in fractions or floats, and from the root."""

from collections.abc import Callable
from fractions import Fraction

from formulations.sharing.jobs import Jobs, arrays_of, in_floats
from formulations.sharing.search import FoundSchedule, nothing_found, search
from formulations.sharing.stack import Stack, new_stack
from formulations.sharing.table import StateTable, new_table
from gsopt.core.numbers.compiled import twin
from gsopt.problems.sharing import Sharing


def search_all(
    jobs: Jobs,
    stack: Stack,
    step: Callable[..., int],
    table: StateTable | None = None,
    found: FoundSchedule | None = None,
) -> FoundSchedule:
    """Search to the end, by the compiled search or its plain twin; in floats no doubt may come up."""
    seen = new_table(jobs, 2**12) if table is None else table
    best = nothing_found(jobs) if found is None else found
    while stack.depth[0] >= 0:
        step(jobs, stack, seen, best, 10**7)
        assert not stack.doubt[0]
    return best


def alone_from(jobs: Jobs, stack: Stack) -> Stack:
    """Return a stack whose root is the node at hand of another."""
    depth, root = stack.depth[0], new_stack(jobs)
    for own, given in zip(root[2:], stack[2:], strict=True):
        own[0] = given[depth]
    return root


def least_in_fractions(problem: Sharing) -> Fraction:
    """Return the least mean job completion time that the search finds in fractions, from no schedule."""
    jobs, units = arrays_of(problem)
    found = search_all(jobs, new_stack(jobs), twin(search))
    return units.mean(found.value[0])


def floats_of(problem: Sharing) -> Jobs:
    """Return the arrays of a problem in floats."""
    return in_floats(arrays_of(problem)[0])
