"""Beginning: first pairs and a bound, both cheap to compute, and a test of whether they suffice."""

from formulations.colocation.case import ColocationCase
from formulations.common.first import judged_start
from gsopt.core.budget import Budget
from gsopt.core.result import Result
from gsopt.problems.colocation import ColocationSolution


def begin(case: ColocationCase, budget: Budget, method: str) -> tuple[Result[ColocationSolution], bool]:
    """Return the greedy pairs with a bound, and whether the search is over.

    If the budget's start is no worse than the greedy pairs, it takes their place. The search is over if value
    and bound are equal or within the requested gap, if the time limit is reached, or if the caller stops it.
    """
    solution = case.solution(case.greedy())
    return judged_start(case.problem, solution, case.bound, method=method, message="greedy", budget=budget)
