"""Alone: every job by itself at its fastest."""

from gsopt.bounds.work import arrivals_of, height, sum_from_first_release
from gsopt.job import Workload


def height_bound(workload: Workload, gpus: float) -> float:
    """Bound the sum of completion times by every job alone at its fastest.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> height_bound(Workload(jobs=[Job(name="a", release_date=1, duration=5, gpus=1)]), 4)
    6.0
    """
    del gpus
    return sum_from_first_release(workload, map(height, workload.jobs), arrivals_of(workload))
