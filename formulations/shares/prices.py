"""Prices: bounds on the objective of any shares, proven by exact prices of throughputs and GPUs."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from formulations.shares.needs import best_level
from gsopt.core.numbers.grid import Exact, floor_digits
from gsopt.problems.shares import Shares, TypedJob

#: Significant digits to which a job's value minus the price of its GPUs is rounded up, so that sums remain
#: decimals.
_DIGITS = 32


def most_yield(problem: Shares, jobs: Sequence[Exact], gpus: Mapping[str, Exact]) -> Exact:
    """Return an upper bound on the total value of the throughputs under any shares, derived from GPU prices.

    For all shares x, sum_m y_m r_m = sum_{m, t} (y_m a_mt - z_m p_t) x_mt + sum_t p_t sum_m z_m x_mt. Since a
    job's shares add up to at most 1, the first sum is at most the sum of the best terms of all jobs, where a
    negative term counts as 0. The second sum is at most sum_t p_t M_t. So the bound holds for any prices p >=
    0, no matter where they come from. Here r_m is the throughput of job m, a_mt its steps per second on type t,
    z_m its GPUs, and M_t the GPUs of type t. `jobs` holds y_m, the value of one step per second of each job,
    and `gpus` holds p_t, the price of a GPU of each type.
    """
    total = sum((Fraction(gpus[kind]) * count for kind, count in problem.gpus.items()), Fraction(0))
    for job, worth in zip(problem.jobs, jobs, strict=True):
        left = max(worth * rate - job.gpus * gpus[kind] for kind, rate in problem.rates[job.name].items())
        if left > 0:
            total -= floor_digits(-Fraction(left), _DIGITS)
    return total


def bound(problem: Shares, jobs: Sequence[Exact], gpus: Mapping[str, Exact], level: Exact) -> Exact:
    """Return a bound on the objective of any shares, derived from prices.

    If the objective is a level, the price of each job's steps is raised to at least that of the GPUs that they
    take on the job's cheapest type. This never weakens the bound. `jobs` and `gpus` are as in `most_yield`. For
    sums, `jobs` holds the `worths` of the problem. `level` is a known bound.
    """
    if problem.is_sum:
        return most_yield(problem, jobs, gpus)
    paid = [max(worth, _cost(problem, job, gpus)) for worth, job in zip(jobs, problem.jobs, strict=True)]
    return best_level(problem, paid, most_yield(problem, paid, gpus), level)


def _cost(problem: Shares, job: TypedJob, gpus: Mapping[str, Exact]) -> Exact:
    """Return the price of the GPUs that one step per second takes on a job's cheapest type, rounded down."""
    rates = problem.rates[job.name].items()
    return floor_digits(min(Fraction(job.gpus * gpus[kind]) / rate for kind, rate in rates), _DIGITS)


def worths(problem: Shares) -> list[Exact]:
    """Return how much one step per second of each job adds to the objective, for objectives that are sums."""
    if problem.criterion == "max_sum":
        return [1] * len(problem.jobs)
    count = len(problem.jobs)
    return [
        Fraction(count - place) / max(problem.rates[job.name].values())
        for place, job in enumerate(problem.jobs)
    ]
