"""Climb: linear programs, each at the level that the prices of the one before leave possible."""

from formulations.shares.best import BestShares
from formulations.shares.linear import LinearSolution, earn, meet
from formulations.shares.needs import needs
from formulations.shares.prices import bound, worths
from gsopt.core.numbers.grid import Exact


def climb(best: BestShares) -> None:
    """Solve linear programs until shares and prices prove each other, or say nothing new.

    At a level the shares are sought that meet all needs as many times as can be. Their prices prove a bound
    (`formulations.shares.prices.bound`), and it is the next level: Newton's method on the level that can be met
    once, which no step passes. Needs in `max_min` and `makespan` are multiples of each other, so the first step
    is the last; the first level is that of the best shares known, which is not far from the best of all.
    """
    _step(best, best.known_value)
    moved = True
    while moved and not best.finished:
        moved = _step(best, best.bound) or _step(best, best.known_value)


def _step(best: BestShares, level: Exact) -> bool:
    """Solve the linear program of a level; return whether value or bound improved."""
    before = best.value, best.bound
    answer = _answer(best, level)
    if answer is not None:
        best.take(best.problem.fitted(answer.shares))
        best.raise_bound(bound(best.problem, answer.jobs, answer.gpus, best.bound))
    return before != (best.value, best.bound)


def _answer(best: BestShares, level: Exact) -> LinearSolution | None:
    problem = best.problem
    if problem.criterion == "fifo":
        return earn(problem, worths(problem), best.budget)
    return meet(problem, needs(problem, level), best.budget)
