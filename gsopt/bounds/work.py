"""Work: what a job needs at least, and the clock on which bounds count."""

from collections.abc import Iterable
from itertools import chain
from math import fsum

from gsopt.job import Job, Workload


def area(job: Job) -> float:
    """Give the least GPU-seconds of a job over its menu.

    Examples
    --------
    >>> area(Job(name="a", release_date=0, duration=60, gpus=2, menu=[(1, 0.6), (2, 1.0)]))
    100.0
    """
    return min(count * job.duration / speed for count, speed in job.menu or ((job.gpus, 1.0),))


def height(job: Job) -> float:
    """Give the least seconds of a job over its menu.

    Examples
    --------
    >>> height(Job(name="a", release_date=0, duration=60, gpus=2, menu=[(2, 1.0), (4, 1.5)]))
    40.0
    """
    return min(job.duration / speed for _, speed in job.menu or ((job.gpus, 1.0),))


def first_release(workload: Workload) -> float:
    """Give the first release date; 0 without jobs."""
    return workload.jobs[0].release_date if workload.jobs else 0.0


def arrivals_of(workload: Workload) -> list[float]:
    """Release dates, counted from the first."""
    return [job.release_date - first_release(workload) for job in workload.jobs]


def sum_from_first_release(workload: Workload, *times: Iterable[float]) -> float:
    """Add up times counted from the first release date, and the origin once for each job."""
    return fsum(chain([first_release(workload)] * len(workload.jobs), *times))
