"""One type: closed-form shares for clusters with a single GPU type."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import groupby

from formulations.shares.best import BestShares
from formulations.shares.needs import best_level, needs
from formulations.shares.prices import worths
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.shares import Shares, TimeShares, TypedJob


@exact_method(unused=["backend", "log"])
def one_type(problem: Shares, budget: Budget) -> Result[TimeShares]:
    """Divide the time of GPUs of one type in closed form or, for finish times, by Newton's method.

    Job m has weight w_m, s_m remaining steps and z_m GPUs, on which it performs a_m steps per second. The
    cluster has M GPUs. The optimum is:

    - in `max_min`, min(M / sum_m w_m, min_m z_m / w_m);
    - in `makespan`, max(sum_m z_m s_m / a_m / M, max_m s_m / a_m);
    - in `finish_time`, the value at which the jobs need M GPUs in total or, if it is worse, the value when
      every job has its GPUs all the time;
    - in `fifo` and `max_sum`, the total if the jobs with the highest value per GPU get time first.

    Complexity: O(J) operations on exact numbers for J jobs, and O(J log J) in `fifo` and `max_sum`. For finish
    times, each step of Newton's method takes O(J), and about ten steps are usually enough.

    Source
    ------
    Gavel, section 4. With one type, its linear programs have closed-form solutions.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Raises
    ------
    Unsupported
        There are several GPU types.

    Examples
    --------
    >>> from gsopt.problems.shares import TypedJob
    >>> weights = {"a": 1.0, "b": 3.0}
    >>> jobs = [TypedJob(name=name, throughputs={"v100": 4.0}, weight=each) for name, each in weights.items()]
    >>> result = one_type(Shares(gpus={"v100": 1}, jobs=jobs))
    >>> result.status, result.objective, dict(result.solution.shares["b"])
    (<Status.OPTIMAL: 'optimal'>, Fraction(1, 4), {'v100': 0.75})
    """
    if len(problem.gpus) > 1:
        raise Unsupported(f"one_type divides GPUs of one type, but there are {len(problem.gpus)} types")
    best = BestShares(problem, budget, "one_type")
    if not best.finished:
        divide(best)
    return best.result(best.finished or StoppedBy.FINISHED)


def divide(best: BestShares) -> None:
    """Divide the time of GPUs of one type, and prove the shares optimal."""
    problem = best.problem
    rate = {name: next(iter(own.values())) for name, own in problem.rates.items()}
    if problem.is_sum:
        shares, value = _in_order(problem, rate)
    else:
        prices = [Fraction(job.gpus) / rate[job.name] for job in problem.jobs]
        value = best_level(problem, prices, sum(problem.gpus.values()), best.bound)
        best.raise_bound(value)
        each = zip(problem.jobs, needs(problem, best.bound), strict=True)
        shares = {job.name: Fraction(need) / rate[job.name] for job, need in each}
    kind = next(iter(problem.gpus))
    best.take(problem.fitted({name: {kind: share} for name, share in shares.items()}))
    best.raise_bound(value)


def _in_order(problem: Shares, rate: Mapping[str, Exact]) -> tuple[Mapping[str, Fraction], Exact]:
    """Assign GPU time to jobs in descending order of value per GPU, as in a fractional knapsack.

    Also returns the total value. Jobs of equal value are served in list order in `fifo`, and get equal shares
    in `max_sum`.
    """
    left, shares, value = Fraction(sum(problem.gpus.values())), dict[str, Fraction](), Fraction(0)
    each = zip(problem.jobs, worths(problem), strict=True)
    counts = {job.name: Fraction(worth) * rate[job.name] for job, worth in each}

    def rank(item: tuple[int, TypedJob]) -> tuple[Fraction, int]:
        place, job = item
        return -counts[job.name] / job.gpus, place if problem.criterion == "fifo" else 0

    for _, group in groupby(sorted(enumerate(problem.jobs), key=rank), rank):
        alike = [job for _, job in group]
        gpus = sum(job.gpus for job in alike)
        share = min(Fraction(1), left / gpus)
        left -= share * gpus
        value += share * sum(counts[job.name] for job in alike)
        shares |= {job.name: share for job in alike}
    return shares, value
