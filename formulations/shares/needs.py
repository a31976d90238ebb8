"""Needs: the throughput that each job needs for a level, and the best level that prices leave possible."""

from collections.abc import Sequence
from fractions import Fraction

from gsopt.core.numbers.grid import Exact, decimal, floor_digits
from gsopt.problems.shares import Shares, TimeShares, TypedJob

#: Significant digits to which terms of a sum are rounded, so that it stays a decimal: all that doubles have,
#: and as many again.
_DIGITS = 32

#: Digits of a level that is approached, and most steps; each step doubles the digits that are right.
_LEVEL_DIGITS, _MOST_STEPS = 18, 60


def needs(problem: Shares, level: Exact) -> list[Exact]:
    """Return the throughput that each job needs for a level, or a better one; `fifo` has no levels."""
    return [_need(problem, job, Fraction(level)) for job in problem.jobs]


def _need(problem: Shares, job: TypedJob, level: Fraction) -> Exact:
    if problem.criterion == "max_min":
        return level * decimal(job.weight) * problem.proportional[job.name] / job.gpus
    left = decimal(job.steps)
    if problem.criterion == "makespan":
        return left / level
    return left / (level * problem.isolated_times[job.name] - decimal(job.age))


def level_alone(problem: Shares) -> Exact:
    """Return the level of the job that is worst off if each has all the time on its fastest type.

    In `fifo` it is the value of that. No shares are better.
    """
    shares = {name: {max(own, key=own.__getitem__): 1.0} for name, own in problem.rates.items()}
    return problem.objective(TimeShares(shares=shares))


def best_level(problem: Shares, prices: Sequence[Exact], most: Exact, level: Exact) -> Exact:
    """Return the best level at which the needs of all jobs, at these prices, come to no more than a sum.

    Every level that shares have is such a level where no shares yield more, at these prices, than the sum. So
    what is returned bounds them. A price is that of a job's step per second, at least 0; the problem is not one
    of `fifo`. In `finish_time` the search begins at the known bound `level`, and gives nothing worse.
    """
    if not any(prices):
        return level
    if problem.criterion == "finish_time":
        return _root(problem, prices, most, level)
    total = _least_total(problem, prices, 1)
    return Fraction(most) / total if problem.criterion == "max_min" else total / Fraction(most)


def _least_total(problem: Shares, prices: Sequence[Exact], level: Exact) -> Fraction:
    """Add what the needs cost, each term rounded down."""
    costs = (price * need for price, need in zip(prices, needs(problem, level), strict=True))
    return sum((Fraction(floor_digits(Fraction(cost), _DIGITS)) for cost in costs), Fraction(0))


def _root(problem: Shares, prices: Sequence[Exact], most: Exact, level: Exact) -> Exact:
    """Approach, from below, the level at which the needs cost a sum, by Newton's method.

    What the needs cost falls with the level and is convex, so no step goes beyond the root: rounded as it is
    here, it is only shorter.
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
    """Return how fast the cost of needs falls with the level of `finish_time`, each term rounded up."""
    total = Fraction(0)
    for job, price, need in zip(problem.jobs, prices, needs(problem, level), strict=True):
        slope = price * need * need * problem.isolated_times[job.name] / decimal(job.steps)
        total -= floor_digits(-Fraction(slope), _DIGITS)
    return total
