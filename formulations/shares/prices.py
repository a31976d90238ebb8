"""Prices: what shares can yield at most, proven by prices of throughputs and of GPUs in exact numbers."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from formulations.shares.needs import best_level
from gsopt.core.numbers.grid import Exact, floor_digits
from gsopt.problems.shares import Shares, TypedJob

#: Significant digits to which what is left of a job's time is rounded up, so that sums stay decimals.
_DIGITS = 32


def most_yield(problem: Shares, jobs: Sequence[Exact], gpus: Mapping[str, Exact]) -> Exact:
    """Bound what throughputs are worth, at prices of their steps, by what GPUs cost at any prices.

    For all shares, sum_m y_m r_m = sum_{m, t} (y_m a_mt - z_m p_t) x_mt + sum_t p_t sum_m z_m x_mt. The first
    sum is at most what each job has on the type that is best for it, as its time is 1, and the second at most
    sum_t p_t M_t. So it holds for any prices p of at least 0, whatever made them. `jobs` holds y_m, the worth
    of a step per second of each job, and `gpus` p_t, the price of a GPU of each type.
    """
    total = sum((Fraction(gpus[kind]) * count for kind, count in problem.gpus.items()), Fraction(0))
    for job, worth in zip(problem.jobs, jobs, strict=True):
        left = max(worth * rate - job.gpus * gpus[kind] for kind, rate in problem.rates[job.name].items())
        if left > 0:
            total -= floor_digits(-Fraction(left), _DIGITS)
    return total


def bound(problem: Shares, jobs: Sequence[Exact], gpus: Mapping[str, Exact], level: Exact) -> Exact:
    """Bound the value of all shares by prices.

    Where values are levels, a job's steps are given the worth that its GPUs cost wherever that is more: it
    raises the bound on no throughput. `jobs` and `gpus` are as in `most_yield`, in `fifo` the `worths` of the
    problem; `level` is a known bound.
    """
    if problem.criterion == "fifo":
        return most_yield(problem, jobs, gpus)
    paid = [max(worth, _cost(problem, job, gpus)) for worth, job in zip(jobs, problem.jobs, strict=True)]
    return best_level(problem, paid, most_yield(problem, paid, gpus), level)


def _cost(problem: Shares, job: TypedJob, gpus: Mapping[str, Exact]) -> Exact:
    """Return what a step per second costs on the cheapest type, rounded down."""
    rates = problem.rates[job.name].items()
    return floor_digits(min(Fraction(job.gpus * gpus[kind]) / rate for kind, rate in rates), _DIGITS)


def worths(problem: Shares) -> list[Exact]:
    """Return what a step per second of each job is worth in `fifo`."""
    count = len(problem.jobs)
    return [
        Fraction(count - place) / max(problem.rates[job.name].values())
        for place, job in enumerate(problem.jobs)
    ]
