"""Exact: closed forms for one GPU type and, for several types, linear programs whose prices prove a bound."""

from formulations.shares.best import BestShares
from formulations.shares.climb import climb
from formulations.shares.one_type import divide
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.shares import Shares, TimeShares

_PROGRAMS = "linear programs"


@exact_method(unused=["backend"])
def exact(problem: Shares, budget: Budget) -> Result[TimeShares]:
    """Try the following techniques until one proves optimality; the message then names it.

    1. Isolated shares, and a bound that ignores contention.
    2. Closed forms or, for finish times, Newton's method, if there is only one GPU type (`one_type`).
    3. Linear programs in double precision, usually one or two. Their prices yield a bound in exact arithmetic,
       which does not depend on the solver's tolerances.

    Source
    ------
    Gavel, sections 4.1 and 4.2. For `makespan`, Gavel's code uses bisection to within 5 %; for finish times, it
    uses a convex solver.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, callback and log.

    Examples
    --------
    >>> from instances.shares import typed_jobs
    >>> result = exact(typed_jobs(jobs=12, criterion="finish_time", seed=1))
    >>> result.status, result.message
    (<Status.OPTIMAL: 'optimal'>, 'linear programs')
    """
    best = BestShares(problem, budget, "exact")
    message = solve(best)
    solver = "highs" if message == _PROGRAMS else ""
    return best.result(best.finished or StoppedBy.FINISHED, solver=solver, message=message)


def solve(best: BestShares) -> str:
    """Find the best shares by closed forms (for one type) or linear programs, and return the technique's name.

    If there already is a reason to stop, no technique is used, and the name is that of the isolated shares.
    """
    if best.finished:
        return "isolated shares"
    if len(best.problem.gpus) == 1:
        divide(best)
        return "closed form"
    climb(best)
    return _PROGRAMS
