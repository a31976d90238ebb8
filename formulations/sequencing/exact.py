"""Exact: the assignment of jobs to positions, solved in double precision and proven in integers."""

from formulations.common.prices import proves
from formulations.sequencing.beginning import begin
from formulations.sequencing.case import SequencingCase, depth_of
from formulations.sequencing.paths import follow
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.sequencing import Sequences, Sequencing


@exact_method(unused=["backend", "log"])
def exact(problem: Sequencing, budget: Budget) -> Result[Sequences]:
    """Try the following techniques until one proves optimality; the message then names it.

    1. Shortest job first, each on the machine on which it completes earliest.
    2. The assignment of jobs to positions, solved in double precision and proven optimal by integer prices.
    3. Shortest augmenting paths in integers, if double precision cannot tell costs apart.

    If the solution is optimal, its value and the bound are the same exact number.

    Source
    ------
    AlloX (EuroSys 2020), section 4.2.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Examples
    --------
    >>> from instances.sequencing import unit_jobs
    >>> result = exact(unit_jobs(jobs=40, seed=1))
    >>> result.status, result.message
    (<Status.OPTIMAL: 'optimal'>, 'assignment')
    """
    case, best = begin(problem, budget, "exact")
    if best.finished:
        return best.result(best.finished, message="shortest first")
    best.take(case.ordered())
    if best.asked_to_stop or budget.passed:
        return best.result(StoppedBy.INTERRUPT if best.asked_to_stop else StoppedBy.TIME_LIMIT)
    if _is_best(case, best.known):
        best.raise_bound(best.known_value)
        return best.result(StoppedBy.FINISHED, solver="scipy", message="assignment")
    return follow(case, best)


def _is_best(case: SequencingCase, solution: Sequences) -> bool:
    """Check whether integer prices prove that no other orders are better."""
    total = case.problem.objective(solution)
    costs = case.costs(depth_of(solution, len(case.problem.jobs)), total)
    return proves(costs.max(initial=0) - costs, case.columns(solution))
