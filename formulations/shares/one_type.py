"""One type: shares in closed form where all GPUs are alike."""

from collections.abc import Mapping
from fractions import Fraction

from formulations.shares.best import BestShares
from formulations.shares.needs import best_level, needs
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.shares import Shares, TimeShares


@exact_method(unused=["backend", "log"])
def one_type(problem: Shares, budget: Budget) -> Result[TimeShares]:
    """Divide GPUs of one type without any solver.

    A job with the throughput r holds its z GPUs for r / a of the time, so all levels but that of finish times
    follow from one division: the level at which all GPUs are used, or the one that a job has alone if that is
    worse. In `max_min` it is the water level min(M / sum_m w_m, min_m z_m / w_m), in `makespan`
    max(sum_m z_m s_m / a_m / M, max_m s_m / a_m). In `finish_time` the GPUs that are needed fall with the
    level, and Newton's method finds where they are M. In `fifo` time goes to whoever counts most for each GPU.

    Complexity: O(J) exact numbers, for finish times in each of some ten steps; O(J log J) in `fifo`.

    Source
    ------
    Gavel, section 4, with one type: no job is better off on another, and its linear programs fall apart.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Raises
    ------
    Unsupported
        There are several types.

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
        raise Unsupported(f"one_type divides GPUs of one type, there are {len(problem.gpus)}")
    best = BestShares(problem, budget, "one_type")
    if not best.finished:
        divide(best)
    return best.result(best.finished or StoppedBy.FINISHED)


def divide(best: BestShares) -> None:
    """Divide GPUs of one type, and prove it."""
    problem = best.problem
    rate = {name: next(iter(own.values())) for name, own in problem.rates.items()}
    if problem.criterion == "fifo":
        shares, value = _in_order(problem)
    else:
        prices = [Fraction(job.gpus) / rate[job.name] for job in problem.jobs]
        value = best_level(problem, prices, sum(problem.gpus.values()), best.bound)
        best.raise_bound(value)
        each = zip(problem.jobs, needs(problem, best.bound), strict=True)
        shares = {job.name: Fraction(need) / rate[job.name] for job, need in each}
    kind = next(iter(problem.gpus))
    best.take(problem.fitted({name: {kind: share} for name, share in shares.items()}))
    best.raise_bound(value)


def _in_order(problem: Shares) -> tuple[Mapping[str, Fraction], Exact]:
    """Return the GPU time for the job that counts most per GPU, and so on: a fractional knapsack."""
    count, left = len(problem.jobs), Fraction(sum(problem.gpus.values()))
    shares, value = {}, Fraction(0)
    order = sorted(range(count), key=lambda place: (-Fraction(count - place, problem.jobs[place].gpus), place))
    for place in order:
        job = problem.jobs[place]
        share = min(Fraction(1), left / job.gpus)
        left -= share * job.gpus
        value += share * (count - place)
        shares[job.name] = share
    return shares, value
