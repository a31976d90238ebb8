"""Climb: a sequence of linear programs; the prices of each one prove a bound, which is the next level."""

from collections.abc import Hashable, Mapping

from formulations.shares.best import BestShares
from formulations.shares.linear import LinearSolution, earn, meet
from formulations.shares.needs import needs
from formulations.shares.prices import bound, worths
from gsopt.core.numbers.grid import Exact
from gsopt.problems.shares import Shares


def climb(best: BestShares) -> None:
    """Solve linear programs until shares and prices prove each other optimal, or nothing improves.

    The need of a job is the throughput with which it reaches a given level. The linear program finds shares
    that meet the largest possible multiple of all needs. Its prices prove a bound
    (`formulations.shares.prices.bound`), which is the next level. This is Newton's method for the level at
    which this multiple is exactly 1, and no step overshoots this level. In `max_min` and `makespan`, the needs
    at all levels are proportional to each other, so one step suffices, up to rounding. The first level is that
    of the best known shares. For sums, the linear program maximizes the sum itself.
    """
    _step(best, best.known_value)
    moved = True
    while moved and not best.finished:
        moved = _step(best, best.bound) or _step(best, best.known_value)


def _step(best: BestShares, level: Exact) -> bool:
    """Solve the linear program for a level, and return whether the best value or the bound improved."""
    before = best.value, best.bound
    answer = _answer(best, level)
    if answer is not None:
        best.take(best.problem.fitted(answer.shares))
        best.raise_bound(bound(best.problem, answer.jobs, answer.gpus, best.bound))
    return before != (best.value, best.bound)


def _answer(best: BestShares, level: Exact) -> LinearSolution | None:
    problem = best.problem
    if problem.is_sum:
        answer = earn(problem, worths(problem), best.budget)
        return answer and answer._replace(shares=_evened(problem, answer.shares))
    return meet(problem, needs(problem, level), best.budget)


def _evened(problem: Shares, shares: Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, float]]:
    """Assign equal shares to identical jobs in `max_sum`, which does not change the objective."""
    if problem.criterion != "max_sum":
        return shares
    alike: dict[Hashable, list[str]] = {}
    for job in problem.jobs:
        alike.setdefault((job.gpus, *sorted(job.throughputs.items())), []).append(job.name)
    return {
        name: {kind: sum(shares[each][kind] for each in names) / len(names) for kind in shares[name]}
        for names in alike.values()
        for name in names
    }
