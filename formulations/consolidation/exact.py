"""Exact: the smallest model that expresses the problem, between a placement and a bound at once."""

from dataclasses import replace

from formulations.consolidation.beginning import begin
from formulations.consolidation.case import Case
from formulations.consolidation.divisible import divisible
from formulations.consolidation.laminar import laminar
from formulations.consolidation.patterns import patterns
from gsopt.budget import Budget
from gsopt.errors import Unsupported
from gsopt.method import exact_method
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution
from gsopt.result import Result, StoppedBy, is_within


@exact_method()
def exact(problem: Consolidation, budget: Budget) -> Result[ConsolidationSolution]:
    """Solve a problem by the model that suits it; the message says which.

    1. A placement by value density and a knapsack bound, which meet where nothing competes.
    2. `divisible` where demands that fit on a machine divide each other, as powers of two do; else `patterns`;
       and `laminar` where machines can be filled in too many ways, or have islands and shall be left whole.

    Values are fractions, and what is called optimal is so exactly. Where jobs come before their value, the
    most that can be placed are counted first: the smallest ones, which on the whole cluster always fit. Where
    ties are to be broken in favour of whole machines, those count so little that the solve goes in stages,
    value first.

    Source
    ------
    Dally, section II-B and Table I, for the problem.

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
    case = Case.of(problem)
    solution, bound = begin(case)
    if budget.start is not None and problem.objective(budget.start) >= problem.objective(solution):
        solution = budget.start
    first = Result.judged(
        problem, method="exact", solution=solution, bound=bound, message="knapsack", runtime=budget.runtime
    )
    stop = None if budget.on_incumbent is None else budget.on_incumbent(first)
    if stop is True:
        return replace(first, stopped_by=StoppedBy.INTERRUPT)
    if is_within(first.objective, first.bound, budget.gap):
        return first if first.objective == first.bound else replace(first, stopped_by=StoppedBy.GAP)
    if budget.passed:
        return replace(first, stopped_by=StoppedBy.TIME_LIMIT)
    return _by_model(problem, replace(budget, start=solution))


def _by_model(problem: Consolidation, budget: Budget) -> Result[ConsolidationSolution]:
    for model in (divisible, patterns):
        try:
            found = model(problem, budget=budget)
        except Unsupported:
            continue
        return replace(found, method="exact", message=_joined(model.name, found.message))
    found = laminar(problem, budget=budget)
    return replace(found, method="exact", message=_joined(laminar.name, found.message))


def _joined(model: str, message: str) -> str:
    return f"{model}: {message}" if message else model
