"""Needs: the throughput that each job needs to reach a level, and the best level that given prices allow."""

from collections.abc import Sequence
from fractions import Fraction

from gsopt.core.numbers.grid import Exact, decimal, floor_digits
from gsopt.problems.shares import Shares, TimeShares, TypedJob

#: Significant digits to which the terms of a sum are rounded, so that the sum remains a decimal: twice as many
#: as doubles have.
_DIGITS = 32

#: Digits to which a level is approximated, and maximum number of steps. Each step doubles the number of correct
#: digits.
_LEVEL_DIGITS, _MOST_STEPS = 18, 60


def needs(problem: Shares, level: Exact) -> list[Exact]:
    """Return the throughput that each job needs to reach a level, for objectives that are not sums."""
    return [_need(problem, job, Fraction(level)) for job in problem.jobs]


def _need(problem: Shares, job: TypedJob, level: Fraction) -> Exact:
    if problem.criterion == "max_min":
        return level * decimal(job.weight) * problem.proportional[job.name] / job.gpus
    left = decimal(job.steps)
    if problem.criterion == "makespan":
        return left / level
    return left / (level * problem.isolated_times[job.name] - decimal(job.age))


def level_alone(problem: Shares) -> Exact:
    """Return a bound: the level of the worst-off job if every job always runs on its fastest type.

    For sums, the bound is the objective of these shares. No shares are better.
    """
    shares = {name: {max(own, key=own.__getitem__): 1.0} for name, own in problem.rates.items()}
    return problem.objective(TimeShares(shares=shares))


def best_level(problem: Shares, prices: Sequence[Exact], most: Exact, level: Exact) -> Exact:
    """Return the best level at which meeting the needs of all jobs costs at most `most` at the given prices.

    If no shares yield more than `most` at these prices, no shares reach a better level, so the result is a
    bound. `prices` holds the price of one step per second of each job, which is non-negative. The function does
    not apply to sums. If all prices are 0, `level` is returned. In `finish_time`, the search starts at the
    known bound `level` and never returns a weaker one.
    """
    if not any(prices):
        return level
    if problem.criterion == "finish_time":
        return _root(problem, prices, most, level)
    total = _least_total(problem, prices, 1)
    return Fraction(most) / total if problem.criterion == "max_min" else total / Fraction(most)


def _least_total(problem: Shares, prices: Sequence[Exact], level: Exact) -> Fraction:
    """Return the total cost of the needs at a level, with each term rounded down."""
    costs = (price * need for price, need in zip(prices, needs(problem, level), strict=True))
    return sum((Fraction(floor_digits(Fraction(cost), _DIGITS)) for cost in costs), Fraction(0))


def _root(problem: Shares, prices: Sequence[Exact], most: Exact, level: Exact) -> Exact:
    """Approximate, from below, the level at which the needs cost a given total, by Newton's method.

    The cost of the needs is a decreasing, convex function of the level, so no step passes the root. Rounding
    only shortens the steps.
    """
    bound = Fraction(level)
    for _ in range(_MOST_STEPS):
        excess = _least_total(problem, prices, bound) - most
        further = Fraction(floor_digits(bound + excess / _steepness(problem, prices, bound), _LEVEL_DIGITS))
        if further <= bound:
            break
        bound = further
    return bound


def _steepness(problem: Shares, prices: Sequence[Exact], level: Fraction) -> Fraction:
    """Return how fast the cost of the needs falls as the level of `finish_time` rises; terms are rounded up."""
    total = Fraction(0)
    for job, price, need in zip(problem.jobs, prices, needs(problem, level), strict=True):
        slope = price * need * need * problem.isolated_times[job.name] / decimal(job.steps)
        total -= floor_digits(-Fraction(slope), _DIGITS)
    return total
