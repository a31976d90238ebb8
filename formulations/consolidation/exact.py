"""Exact: a quick placement and bound, followed by the first of several models that accepts the problem."""

from contextlib import suppress
from dataclasses import replace

from formulations.common.first import judged_start
from formulations.consolidation.beginning import begin
from formulations.consolidation.case import ConsolidationCase
from formulations.consolidation.divisible import Divisible
from formulations.consolidation.laminar import Laminar
from formulations.consolidation.patterns import Patterns
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method, no_worse, tightened
from gsopt.core.result import Result
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution


@exact_method()
def exact(problem: Consolidation, budget: Budget) -> Result[ConsolidationSolution]:
    """Solve a problem with the first model that supports it; the message names that model.

    1. A greedy placement and a knapsack bound. If their values meet, no model is needed.
    2. `patterns` without inner levels, if no job is worth more on them than on the next wider level, and
       entirely free machines do not count. It then fills racks (or wider groups) instead of machines.
    3. `divisible`, if the demands that fit on a machine divide each other, and `patterns` if not.
    4. `laminar`, which supports every problem.

    Values are computed as fractions, so a proven optimum is exact. For online decisions, request a gap such as
    1e-3, because closing the gap completely takes much longer.

    Source
    ------
    Dally, section III-B and Table I, for the problem.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, callback, and the backend of the integer program.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> result = exact(half_busy(racks=2, jobs=50, seed=1))
    >>> result.status, round(float(result.objective), 6), result.message
    (<Status.OPTIMAL: 'optimal'>, 62.640466, 'divisible: kOptimal')
    """
    case = ConsolidationCase.of(problem)
    solution, bound = begin(case)
    first, ended = judged_start(problem, solution, bound, method="exact", message="knapsack", budget=budget)
    if ended:
        return first
    found = _by_model(case, replace(budget, start=first.solution))
    return tightened(no_worse(found, problem, first.solution), problem, bound)


def _by_model(case: ConsolidationCase, budget: Budget) -> Result[ConsolidationSolution]:
    """Solve with the first model that accepts the problem, continuing from the budget's start."""
    coarsest = case.coarsest
    models = [Divisible(case), Patterns(case), Laminar(case)]
    if coarsest is not case:
        models.insert(0, Patterns(coarsest))
    for model in models:
        with suppress(Unsupported):
            found = model.run(case.problem, budget)
            message = f"{model.name}: {found.message}" if found.message else model.name
            return replace(found, method="exact", message=message)
    raise Unsupported("exact: no model takes the problem")
