"""Best: the best affordable lower bound, and the conversion of completion times (points in time) to JCTs."""

from fractions import Fraction

from gsopt.core.numbers.grid import Exact, Number, decimal, float_below
from gsopt.scenario.job import Workload
from gsopt.schedule.bounds.mean_busy_time import mean_busy_time_bound
from gsopt.schedule.bounds.moore_hodgson import moore_hodgson_bound
from gsopt.schedule.bounds.position import position_bound

#: Largest number of jobs for which `lower_bound` includes the Moore-Hodgson bound, which is the slowest.
MOORE_HODGSON_JOBS = 150


def lower_bound(workload: Workload, gpus: Number) -> Exact:
    """Return the best affordable lower bound on the sum of completion times.

    It is the largest of `position_bound`, `mean_busy_time_bound` and, for at most 150 jobs,
    `moore_hodgson_bound`.

    Parameters
    ----------
    workload
        The jobs.
    gpus
        The largest number of GPUs that are available at any one time. A GPU that n jobs may share is counted n
        times, and GPUs of slower types are weighted by their capability (`gsopt.schedule.bounds.capability`).

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> lower_bound(Workload(jobs=[Job(name="a", release_date=1, duration=5, gpus=1)]), 4)
    6
    """
    bounds = [position_bound, mean_busy_time_bound]
    if len(workload.jobs) <= MOORE_HODGSON_JOBS:
        bounds.append(moore_hodgson_bound)
    return max(bound(workload, gpus) for bound in bounds)


def total_jct(total_completion: Number, workload: Workload) -> Fraction:
    """Convert a sum of completion times (points in time) into the exact sum of JCTs.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=r, duration=2, gpus=1) for n, r in [("a", 0), ("b", 0.1)]]
    >>> total_jct(2 + 4, Workload(jobs=jobs))
    Fraction(59, 10)
    """
    return Fraction(total_completion) - sum(decimal(job.release_date) for job in workload.jobs)


def mean_jct(total_completion: Number, workload: Workload) -> float:
    """Convert a sum of completion times (points in time) into the mean JCT, rounded down.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=r, duration=2, gpus=1) for n, r in [("a", 0), ("b", 1)]]
    >>> mean_jct(2 + 4, Workload(jobs=jobs))
    2.5
    """
    return float_below(total_jct(total_completion, workload) / len(workload.jobs))
