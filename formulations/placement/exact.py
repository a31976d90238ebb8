"""Exact: the exact method that suits a problem's structure."""

from dataclasses import replace

from formulations.placement.buckets import buckets, unsuited
from formulations.placement.column_generation import column_generation
from formulations.placement.patterns import patterns
from gsopt.backends import Backend
from gsopt.errors import Unsupported
from gsopt.problems.placement import Placement, PlacementSolution
from gsopt.result import Result

#: Patterns up to which all of them are enumerated.
_FEW = 1_000


def exact(
    problem: Placement,
    *,
    backend: Backend | None = None,
    time_limit: float | None = None,
    log: bool = False,
) -> Result[PlacementSolution]:
    """Solve a problem by the method that suits it; the message says which.

    Buckets where workers need GPUs only; all maximal patterns where there are at most 1,000; otherwise column
    generation, which may leave a gap.

    Source
    ------
    Aryl, section 5.3.

    Parameters
    ----------
    problem
        The problem.
    backend
        Solver of the integer programs; HiGHS when None.
    time_limit
        Seconds; None for none.
    log
        Stream the solver's log to standard error.

    Examples
    --------
    >>> import gsopt
    >>> result = exact(gsopt.load("placement/small/six-items"))
    >>> result.objective, result.bound
    (2, 2)
    """
    found = _suited(problem, backend=backend, time_limit=time_limit, log=log)
    return replace(found, method="exact", message=f"{found.method}: {found.message}")


def _suited(
    problem: Placement, *, backend: Backend | None, time_limit: float | None, log: bool
) -> Result[PlacementSolution]:
    if not unsuited(problem):
        return buckets(problem, backend=backend, time_limit=time_limit, log=log)
    try:
        return patterns(problem, backend=backend, time_limit=time_limit, most=_FEW, log=log)
    except Unsupported:  # too many patterns
        return column_generation(problem, backend=backend, time_limit=time_limit, log=log)
