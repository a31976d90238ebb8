"""Exact: the default exact method, which chooses a technique by the structure of the instance."""

from dataclasses import replace
from functools import partial

from formulations.allocation.core import solve_core
from formulations.allocation.groups import solve_groups
from formulations.allocation.milp import milp
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.allocation import Allocation, AllocationSolution

#: Maximum number of columns for which the integer program is tried. Building it cannot be interrupted, and
#: takes about ten microseconds per column.
MOST_COLUMNS = 30_000


@exact_method()
def exact(problem: Allocation, budget: Budget) -> Result[AllocationSolution]:
    """Solve a problem with the technique that its structure allows; the message names that technique.

    1. A price per GPU yields a Lagrangian bound and a choice close to it, and usually decides most jobs. The
       remaining jobs form the core.
    2. If step sizes divide each other and gains diminish, the core is solved by `bundling`.
    3. Otherwise, it is solved by dynamic programming, as in `core`.
    4. If this needs too much memory, or if exact values have too many digits, the integer program continues
       from the best known choice, unless it has more than 30,000 columns (one for each job and allowed number
       of extra workers).

    If the solution is optimal, its value and the bound are the same exact number. If optimality is not proven,
    for example because the time limit is reached, the best known choice and bound are returned.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, callback, and the backend and log of the integer program.

    Notes
    -----
    Source: the second phase of Aryl's Algorithm 2 (section 5.2, Appendix D), solved exactly.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> result = exact(Allocation(capacity=4, jobs=[a, b]))
    >>> result.objective, result.bound, result.solution.extra
    (86, 86, {'A': 1, 'B': 3})
    """
    found = solve_groups(problem, "exact", partial(solve_core, bundles=True), budget)
    columns = sum(len(job.extras) for job in problem.jobs)
    ended = found.status is not Status.FEASIBLE or found.stopped_by is not StoppedBy.FINISHED
    if ended or columns > MOST_COLUMNS or budget.passed:
        return found
    return _continued(problem, found, budget)


def _continued(
    problem: Allocation, found: Result[AllocationSolution], budget: Budget
) -> Result[AllocationSolution]:
    """Continue with the integer program, and keep the better solution and the better bound."""
    try:
        result = milp(problem, budget=replace(budget, start=found.solution))
    except Unsupported as reason:
        return replace(found, message=f"{found.message}; {reason}")
    bounds = [bound for bound in (found.bound, result.bound) if bound is not None]
    return Result.judged(
        problem,
        method="exact",
        solution=result.solution,
        bound=min(bounds),
        stopped_by=result.stopped_by,
        runtime=budget.runtime,
        solver=result.solver,
        message=f"milp: {found.message}",
    )
