"""Beginning: pairs and a bound that cost next to nothing, and the end where they suffice."""

from formulations.colocation.case import ColocationCase
from formulations.common.first import judged_start
from gsopt.core.budget import Budget
from gsopt.core.result import Result
from gsopt.problems.colocation import ColocationSolution


def begin(case: ColocationCase, budget: Budget, method: str) -> tuple[Result[ColocationSolution], bool]:
    """Return the pairs that save most one by one, or the start, with a bound; and whether that is the end.

    The search ends if value and bound meet or are as close as was asked, if time is over, or if the caller
    stops it.
    """
    solution = case.solution(case.greedy())
    return judged_start(case.problem, solution, case.bound, method=method, message="greedy", budget=budget)
