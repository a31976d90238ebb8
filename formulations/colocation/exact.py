"""Exact: the assignment with its proof, or the matching if the proof fails."""

from dataclasses import replace

from formulations.colocation.assignment import assign
from formulations.colocation.beginning import begin
from formulations.colocation.case import ColocationCase
from formulations.colocation.matching import match
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.result import Result, Status
from gsopt.problems.colocation import Colocation, ColocationSolution


@exact_method(unused=["backend", "log"])
def exact(problem: Colocation, budget: Budget) -> Result[ColocationSolution]:
    """Try the following techniques until one proves optimality; the message then names it.

    1. Greedy pairs, largest saving first, and a bound that lets several jobs share one partner.
    2. An assignment problem in double precision, with a proof of optimality in exact arithmetic.
    3. The matching in integers, if this proof fails because double precision cannot tell savings apart.

    If the solution is optimal, its value and the bound are the same exact number.

    Source
    ------
    Castor, Algorithms 1 and 2, which decide on one job at a time. Here, all jobs are considered together.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Examples
    --------
    >>> from instances.colocation import full_cluster
    >>> result = exact(full_cluster(running=12, pending=12, seed=1))
    >>> result.status, len(result.solution.shares), result.message
    (<Status.OPTIMAL: 'optimal'>, 5, 'assignment')
    """
    case = ColocationCase.of(problem, budget)
    first, ended = begin(case, budget, "exact")
    if ended:
        return first
    found = assign(case, budget, first, "exact")
    budget.report(value=found.objective, bound=found.bound)
    if found.status is Status.OPTIMAL or budget.passed:
        return found
    return replace(match(case, budget, found, "exact"), runtime=budget.runtime)
