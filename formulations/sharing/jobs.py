"""Jobs: a sharing problem as arrays of floats, in units of its own, as the kernels take it."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gsopt.grid import Exact, decimal
from gsopt.problems.sharing import Sharing
from gsopt.tolerances import SPAN_ERROR

Array = np.ndarray[Any, Any]


class Jobs(NamedTuple):
    """The jobs of a problem, the smallest GPU time first.

    Times count from the first release date, in units of the longest duration.

    Attributes
    ----------
    gpus
        Number of GPUs, in an array of one.
    release, duration, demand
        Release date, duration alone and number of GPUs of each job.
    slowdown
        ``slowdown[j, k]`` of job j beside k.
    worth
        ``worth[j, k]``: the most that a second of work of each of two jobs may be worth so that a GPU that they
        share earns no more in a second than one alone; 1 at most, and 1 for jobs that may not share. See
        `formulations.sharing.areas`.
    pairs
        Whether two jobs may share.
    """

    gpus: Array
    release: Array
    duration: Array
    demand: Array
    slowdown: Array
    worth: Array
    pairs: Array


class Units(NamedTuple):
    """What the arrays leave out: which job is which, and how long a unit of time is.

    Attributes
    ----------
    order
        Number in the problem of each job of the arrays.
    origin, unit
        The first release date, and the length of a unit of time, in seconds.
    """

    order: tuple[int, ...]
    origin: Fraction
    unit: Fraction

    def seconds(self, time: float) -> float:
        """Give the time on the problem's clock."""
        return float(self.origin + Fraction(time) * self.unit)

    def total(self, problem: Sharing, mean: Exact) -> float:
        """Give the sum of the ends of a schedule by its mean job completion time, in the arrays' units."""
        late = sum(release - self.origin for release in problem.releases)
        return float((mean * len(problem.jobs) + late) / self.unit)

    def mean(self, problem: Sharing, total: float) -> Fraction:
        """Give the mean that no schedule is below whose ends have no smaller sum, but for rounding."""
        late = sum(release - self.origin for release in problem.releases)
        return (Fraction(total * (1 - SPAN_ERROR)) * self.unit - late) / len(problem.jobs)


def arrays_of(problem: Sharing) -> tuple[Jobs, Units]:
    """Give the jobs of a problem as arrays.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> jobs = [Job(name=n, release_date=5, duration=d, gpus=1, model=n) for n, d in [("a", 4), ("b", 2)]]
    >>> arrays, units = arrays_of(Sharing(gpus=1, jobs=jobs, default_interference=1.6))
    >>> arrays.duration, arrays.worth[0, 1], units.seconds(0.25)
    (array([0.5, 1. ]), np.float64(0.8), 6.0)
    """
    areas = [duration * job.gpus for duration, job in zip(problem.durations, problem.jobs, strict=True)]
    order = tuple(sorted(range(len(areas)), key=lambda job: (areas[job], job)))
    origin, unit = Fraction(problem.origin), Fraction(max(problem.durations))
    pairs = np.array([[j != k and problem.may_share(j, k) for k in order] for j in order])
    slowdown = np.array([[float(problem.slowdown(j, k)) for k in order] for j in order])
    together = 1 / (1 / slowdown + 1 / slowdown.T)
    jobs = Jobs(
        gpus=np.array([problem.gpus]),
        release=np.array([float((decimal(problem.jobs[job].release_date) - origin) / unit) for job in order]),
        duration=np.array([float(problem.durations[job] / unit) for job in order]),
        demand=np.array([problem.jobs[job].gpus for job in order]),
        slowdown=slowdown,
        worth=np.where(pairs, np.minimum(together, 1.0), 1.0),
        pairs=pairs,
    )
    return jobs, Units(order, origin, unit)
