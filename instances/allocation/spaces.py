"""Spaces: finite sets of small allocation problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import product

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.allocation import Allocation, ElasticJob
from instances.arguments import at_least

__all__ = ["tiny"]

#: A job: its fewest and most workers, GPUs per worker, and running time with the fewest workers.
_Elastic = tuple[int, int, int, int]


def tiny(*, jobs: int = 3, spare: int = 3, workers: int = 3, widths: int = 2, times: int = 4) -> Space:
    """Return the space of all problems in which a few elastic jobs share a few spare GPUs.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    spare
        Largest number of GPUs that remain when every job has its fewest workers.
    workers
        Largest number of workers of a job.
    widths
        Largest number of GPUs per worker.
    times
        Longest running time with the fewest workers, in whole seconds.

    Examples
    --------
    >>> tiny(jobs=1, spare=1, workers=2, widths=1, times=3).size
    3
    """
    at_least(1, jobs=jobs, spare=spare, widths=widths, times=times)
    at_least(2, workers=workers)
    about = f"at most {jobs} elastic jobs of at most {workers} workers and {times} s"
    about += f", which share at most {spare} spare GPUs"
    counts = range(1, workers + 1)
    items = [
        (least, most, width, time)
        for time, width, least, most in product(range(1, times + 1), range(1, widths + 1), counts, counts)
        if least < most
    ]
    return Space("allocation", about, tuple(_setting(items, gpus) for gpus in range(1, spare + 1)), jobs)


def _setting(items: Sequence[_Elastic], spare: int) -> Setting:
    def make(chosen: Sequence[_Elastic]) -> Allocation:
        jobs = [
            ElasticJob(
                name=f"j{place}", min_workers=least, max_workers=most, gpus_per_worker=width, time_at_min=time
            )
            for place, (least, most, width, time) in enumerate(chosen)
        ]
        return Allocation(capacity=spare, jobs=jobs)

    return Setting(tuple(items), make)
