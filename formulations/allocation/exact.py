"""The default exact method: chooses by the structure of the instance."""

from dataclasses import replace

from formulations.allocation.bundling import bundle
from formulations.allocation.core import solve_core
from formulations.allocation.groups import Found, Groups, solved
from formulations.allocation.milp import milp
from gsopt.errors import Unsupported
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.result import Result


def exact(
    problem: Allocation, *, exact_arithmetic: bool = False, time_limit: float | None = None
) -> Result[AllocationSolution]:
    """Solve a problem by the fastest technique that its structure allows; the message says which.

    1. Worker sizes that divide each other and concave values: bundling.
    2. Anything else: a core, left undecided by a Lagrangian bound.
    3. A core too large for a table: the integer program.

    Parameters
    ----------
    problem
        The problem.
    exact_arithmetic
        Compute with integers of any length instead of floats, so that value and bound are exactly the same
        number: a certificate without rounding.
    time_limit
        Seconds for the integer program; the other two end at once.

    Raises
    ------
    Unsupported
        Exact arithmetic is asked for, and exact values have no common denominator of reasonable length or the
        core is too large.

    Notes
    -----
    Source: the second phase of Aryl's Algorithm 2 (section 5.2, Appendix D), solved exactly.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> result = exact(Allocation(capacity=4, jobs=[a, b]))
    >>> result.objective, result.message
    (86, 'bundling: worker sizes 1, concave values')
    """
    try:
        return solved(problem, "exact", _by_structure, exact_arithmetic=exact_arithmetic)
    except Unsupported as reason:
        if exact_arithmetic:
            raise
        result = milp(problem, time_limit=time_limit)
        return replace(result, method="exact", message=f"milp: {reason}")


def _by_structure(groups: Groups) -> Found:
    try:
        return bundle(groups)
    except Unsupported:
        return solve_core(groups)
