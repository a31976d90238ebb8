"""Exact: the choice of the exact method that suits the structure of a problem."""

from dataclasses import replace

from formulations.placement.buckets import buckets, unsuited
from formulations.placement.column_generation import column_generation
from formulations.placement.milp import milp
from formulations.placement.patterns import patterns
from formulations.placement.racks import racks
from formulations.placement.search import search
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result
from gsopt.problems.placement import Placement, PlacementSolution

#: Largest number of patterns that are enumerated.
_FEW = 1_000


@exact_method()
def exact(problem: Placement, budget: Budget) -> Result[PlacementSolution]:
    """Solve a problem with the method that suits it; the result's message names the method.

    If workers need parts of GPUs or certain GPU types, or may stay unplaced, the method is `milp` for small
    problems and `search` for large ones. For all other problems, it is the first of the following four that
    applies: `racks` if racks are minimized; `buckets` if servers are minimized, workers need no resources other
    than GPUs, and there is one pool or jobs may be split; `patterns` if there are at most 1,000 maximal
    patterns; and `column_generation`, which may leave a gap. These four start from a placement and a bound that
    are found quickly.

    Source
    ------
    Aryl, section 5.3.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, and the backend of the integer programs.

    Raises
    ------
    Unsupported
        Only `search` remains, and it does not support the problem's objective or pools.

    Examples
    --------
    >>> import gsopt
    >>> result = exact(gsopt.load("placement/small/six-items"))
    >>> result.objective, result.bound
    (2, 2)
    """
    found = _suited(problem, budget)
    return replace(found, method="exact", message=f"{found.method}: {found.message}")


def _suited(problem: Placement, budget: Budget) -> Result[PlacementSolution]:
    if problem.beyond_amounts:
        try:
            return milp(problem, budget=replace(budget, start=None))
        except Unsupported as reason:
            found = search(problem, budget=budget)
            return replace(found, message=f"{found.message}; {reason}")
    if problem.minimize == "racks":
        return racks(problem, budget=budget)
    if not unsuited(problem):
        return buckets(problem, budget=budget)
    try:
        return patterns(problem, budget=budget, most=_FEW)
    except Unsupported:  # too many patterns
        return column_generation(problem, budget=budget)
