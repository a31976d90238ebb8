"""First: a first solution and bound, both cheap to compute, and a test of whether they already suffice."""

from dataclasses import replace

from gsopt.core.budget import Budget
from gsopt.core.problem import Number, Problem, S
from gsopt.core.result import Result, StoppedBy, is_within, value_of


def judged_start(
    problem: Problem[S], solution: S, bound: Number, *, method: str, message: str, budget: Budget
) -> tuple[Result[S], bool]:
    """Judge a first solution (or the budget's start if that is no worse), and decide whether to stop there."""
    start = budget.start
    if start is not None and not problem.sense.better(problem.objective(solution), value_of(problem, start)):
        solution = start
    first = Result.judged(
        problem, method=method, solution=solution, bound=bound, message=message, runtime=budget.runtime
    )
    return ends(first, budget)


def ends(first: Result[S], budget: Budget) -> tuple[Result[S], bool]:
    """Report a first result to the caller, and return it together with whether to stop there.

    The search stops if the caller asks for it, if value and bound are equal or within the requested gap, or if
    time runs out. The result states the reason.
    """
    if budget.on_incumbent is not None and budget.on_incumbent(first) is True:
        return replace(first, stopped_by=StoppedBy.INTERRUPT), True
    if is_within(first.objective, first.bound, budget.gap):
        met = first.objective == first.bound
        return first if met else replace(first, stopped_by=StoppedBy.GAP), True
    if budget.passed:
        return replace(first, stopped_by=StoppedBy.TIME_LIMIT), True
    return first, False
