"""Beginning: pairs and a bound that cost next to nothing, and the end where they suffice."""

from formulations.colocation.case import Case
from formulations.common.first import ends
from gsopt.core.budget import Budget
from gsopt.core.result import Result, value_of
from gsopt.problems.colocation import ColocationSolution


def begin(case: Case, budget: Budget, method: str) -> tuple[Result[ColocationSolution], bool]:
    """Return the pairs that save most one by one, or the start, with a bound; and whether that is the end.

    The search ends if value and bound meet or are as close as was asked, if time is over, or if the caller
    stops it.
    """
    problem = case.problem
    solution = case.solution(case.greedy())
    if budget.start is not None and value_of(problem, budget.start) >= problem.objective(solution):
        solution = budget.start
    first = Result.judged(
        problem,
        method=method,
        solution=solution,
        bound=case.bound,
        message="greedy",
        runtime=budget.runtime,
    )
    return ends(first, budget)
