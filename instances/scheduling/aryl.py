"""Aryl: the examples in the paper's tables, and worst-case instances for its two-phase heuristic."""

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.scheduling import ElasticJob, Scheduling
from instances.arguments import at_least

#: GPUs of the cluster in both tables, one per worker.
_GPUS = 8


def table_3() -> Scheduling:
    """Create the two jobs of Table 3, which may be resized but not paused.

    Their sizes are those of Table 2. Each job has 2 to 6 workers. With 6 workers, the jobs take 50 s and 20 s.

    Source: Aryl, Tables 2 and 3.

    Examples
    --------
    >>> [(job.work, min(job.rates), max(job.rates)) for job in table_3().jobs]
    [(300.0, 2, 6), (120.0, 2, 6)]
    """
    return _problem("aryl-table-3", "Aryl, Tables 2 and 3", _elastic("A", 50, 2, 6), _elastic("B", 20, 2, 6))


def table_4() -> Scheduling:
    """Create the two jobs of Table 4, where the larger job may have at most three workers.

    Source: Aryl, Table 4.

    Examples
    --------
    >>> [(job.work, min(job.rates), max(job.rates)) for job in table_4().jobs]
    [(300.0, 2, 3), (120.0, 2, 6)]
    """
    return _problem("aryl-table-4", "Aryl, Table 4", _elastic("A", 100, 2, 3), _elastic("B", 20, 2, 6))


def crawling(*, jobs: int = 4, gpus: int = 64) -> Scheduling:
    """Create elastic jobs that take one second on all GPUs, and a rigid job that leaves each of them one GPU.

    A policy that compares jobs by their running time on the minimum number of GPUs, and starts the shortest one
    first, begins with the rigid job: it takes one second less than an elastic job on a single GPU. As the
    number of GPUs grows, the sum of completion times under such a policy, divided by the optimal sum,
    approaches the total number of jobs, including the rigid one.

    Parameters
    ----------
    jobs
        Number of elastic jobs.
    gpus
        Number of GPUs, greater than the number of jobs.

    Raises
    ------
    InvalidInput
        There is no elastic job, or no GPU is left for the rigid job.

    Examples
    --------
    >>> [(job.work, min(job.rates), max(job.rates)) for job in crawling(jobs=2, gpus=8).jobs]
    [(42.0, 6, 6), (8.0, 1, 8), (8.0, 1, 8)]
    """
    at_least(1, jobs=jobs)
    require(gpus > jobs, "gpus", gpus, f"must be more than the {jobs} jobs")
    others = [_elastic(f"B{number}", 1, 1, gpus) for number in range(1, jobs + 1)]
    first = _elastic("A", gpus - 1, gpus - jobs, gpus - jobs)
    return _problem(f"crawling-j{jobs}-g{gpus}", "worst case of Aryl's two phases", first, *others, gpus=gpus)


def _problem(name: str, source: str, *jobs: ElasticJob, gpus: int = _GPUS) -> Scheduling:
    return Scheduling(name=name, about=About(source=source), gpus=gpus, jobs=jobs, preemptive=False)


def _elastic(name: str, seconds: float, fewest: int, most: int) -> ElasticJob:
    """Return a job with linear speed that takes `seconds` on its largest number of GPUs."""
    rates = {count: float(count) for count in range(fewest, most + 1)}
    return ElasticJob(name=name, release=0, work=seconds * most, rates=rates)
