"""Exact: a dynamic program over the GPUs of each type, or an integer program if its table cannot be built."""

from dataclasses import replace

from formulations.common.best import Best
from formulations.configuration.case import ConfigurationCase, bound_alone, current_configurations
from formulations.configuration.milp import milp
from formulations.configuration.table import LeastCosts
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.configuration import Configuration, ConfigurationSolution


@exact_method()
def exact(problem: Configuration, budget: Budget) -> Result[ConfigurationSolution]:
    """Solve a problem by dynamic programming or, if its table cannot be built, by an integer program.

    1. The current configurations, as far as they are still allowed and fit, are the first solution. The search
       ends there only if a gap, the time limit or the callback requires it.
    2. Dynamic programming over the jobs and the remaining GPUs of each type, in integers. Ties go to the
       solution that changes the configurations of the fewest jobs. Further ties are broken job by job, in
       favour of the current configuration, then the first one in the list, and finally no configuration.
    3. The reference integer program, if the table would be too large or the costs have too many digits for it.
       Ties are then broken by the solver.

    The message names the technique that yielded the result.

    Source
    ------
    Sia (SOSP 2023), section 3.4, which leaves the integer program to a solver. The tie-breaking rules are
    gsopt's own.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, backend, start, callback and log.

    Notes
    -----
    Complexity: O(J C G) time and O(J G) memory for J jobs with C configurations each. G is the product, over
    all types, of one plus the number of GPUs of the type.

    Examples
    --------
    >>> from instances.configuration import growing_jobs
    >>> result = exact(growing_jobs(nodes=4, jobs=6, seed=1))
    >>> result.status, result.message
    (<Status.OPTIMAL: 'optimal'>, 'dynamic programming')
    """
    best: Best[Configuration, ConfigurationSolution] = Best(
        problem, budget, "exact", bound=bound_alone(problem)
    )
    best.take(current_configurations(problem))
    budget.report(bound=best.bound)
    if best.finished not in (None, StoppedBy.FINISHED):  # a value that is best may have other ties
        return best.result(best.finished, message="current configurations")
    try:
        case = ConfigurationCase.of(problem)
        table = LeastCosts.of(case, budget)
    except Unsupported as reason:
        if budget.passed:
            return best.result(StoppedBy.TIME_LIMIT, message="current configurations")
        found = milp(problem, budget=replace(budget, start=best.solution))
        return replace(found, method="exact", message=f"integer program; {reason}")
    if table is None:
        return best.result(StoppedBy.TIME_LIMIT, message="current configurations")
    solution = case.solution(table.choice())
    best.take(solution)
    best.solution = solution  # of equal values the one that breaks ties
    best.raise_bound(problem.objective(solution))
    return best.result(StoppedBy.FINISHED, message="dynamic programming")
