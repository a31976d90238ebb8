"""Bounds: lower bounds on the sum of completion times that scale to whole traces.

The bounds hold for every policy, whatever it resizes, preempts, shares out in rounds or loses in overhead: a
job on k GPUs of its menu progresses at most at its speed there, and the held GPUs never exceed the capacity.
Each job enters by its area (least GPU-seconds over its menu), its height (least seconds over its menu) and
its release date. They bound the sum of completion times; subtract the release dates for job completion times.

All is computed on a clock that begins at the first release date, and only the result is turned into the
workload's, so late dates cost no digits.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush, heapreplace
from itertools import chain
from math import fsum, inf

from gsopt.job import Job, Workload
from gsopt.problem import Number
from gsopt.tolerances import OVERFULL

#: Largest number of jobs for which `lower_bound` computes the Moore-Hodgson positions, the slowest bound.
MOORE_HODGSON_JOBS = 150


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


def height_bound(workload: Workload, gpus: int) -> float:
    """Bound the sum of completion times by every job alone at its fastest.

    Examples
    --------
    >>> height_bound(Workload(jobs=[Job(name="a", release_date=1, duration=5, gpus=1)]), 4)
    6.0
    """
    del gpus
    return _total(workload, map(height, workload.jobs), _arrivals(workload))


def srpt_bound(workload: Workload, gpus: int) -> float:
    """Bound the sum of completion times by shortest remaining time on one machine as fast as all GPUs.

    Takes O(n log n).

    Examples
    --------
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]
    >>> srpt_bound(Workload(jobs=jobs), 2)
    3.0
    """
    return _total(workload, _srpt_completions(workload, gpus))


def position_bound(workload: Workload, gpus: int) -> float:
    """Bound the sum of completion times position by position.

    The q-th completion is not before the q-th of shortest remaining time on one fast machine, which maximises
    the jobs completed at every instant, nor before the q-th smallest release date plus height. At least as
    good as the SRPT and the height bound. Takes O(n log n).

    Examples
    --------
    >>> jobs = [Job(name=str(i), release_date=0, duration=i + 1, gpus=1) for i in range(4)]
    >>> workload = Workload(jobs=jobs)
    >>> srpt_bound(workload, 2), height_bound(workload, 2), position_bound(workload, 2)
    (10.0, 10.0, 11.0)
    """
    return _total(workload, _positions(workload, gpus))


def mean_busy_time_bound(workload: Workload, gpus: int) -> float:
    """Bound the sum of completion times by the mean busy times.

    A job completes at least half its height after the mean time at which its work is done; preemptive
    smallest area first on one fast machine minimises the sum of those means. Takes O(n log n).

    Examples
    --------
    >>> jobs = [Job(name=str(i), release_date=0, duration=2, gpus=1) for i in range(2)]
    >>> mean_busy_time_bound(Workload(jobs=jobs), 2)
    4.0
    """
    return _total(workload, _mean_busy_times(workload, gpus), (height(job) / 2 for job in workload.jobs))


def moore_hodgson_bound(workload: Workload, gpus: int) -> float:
    """Bound the sum of completion times by how many jobs can be complete at all at each time.

    At least as good as the position bound, and takes O(n^2 log n) per bisection step.

    Examples
    --------
    >>> sizes = [("a", 0, 4, 2), ("b", 3, 1, 1)]
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=g) for n, r, d, g in sizes]
    >>> round(moore_hodgson_bound(Workload(jobs=jobs), 2), 6)
    8.5
    """
    return _total(workload, _moore_hodgson_positions(workload, gpus))


def moore_hodgson_positions(workload: Workload, gpus: int) -> list[float]:
    """Bound the first, second, ... completion by how many jobs can be complete at all at each time.

    The q-th completion is not before the first time at which q jobs can be completed by one fast machine when
    each job may use as large an area as it needs in the time left; by Moore and Hodgson's rule on reversed
    time.

    Returns
    -------
    list
        Seconds, ascending, one for each job; that of the q-th bounds the q-th completion of any schedule.

    Examples
    --------
    >>> sizes = [("a", 0, 4, 2), ("b", 3, 1, 1)]
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=g) for n, r, d, g in sizes]
    >>> [round(time, 6) for time in moore_hodgson_positions(Workload(jobs=jobs), 2)]
    [4.0, 4.5]
    """
    origin = _origin(workload)
    return [origin + time for time in _moore_hodgson_positions(workload, gpus)]


def lower_bound(workload: Workload, gpus: int) -> float:
    """Give the best bound on the sum of completion times that is affordable at the workload's size.

    Parameters
    ----------
    workload
        The jobs.
    gpus
        Largest capacity at any time, times the number of jobs that may share a GPU.

    Examples
    --------
    >>> lower_bound(Workload(jobs=[Job(name="a", release_date=1, duration=5, gpus=1)]), 4)
    6.0
    """
    bounds: list[Callable[[Workload, int], float]] = [position_bound, mean_busy_time_bound]
    if len(workload.jobs) <= MOORE_HODGSON_JOBS:
        bounds.append(moore_hodgson_bound)
    return max(bound(workload, gpus) for bound in bounds)


def _origin(workload: Workload) -> float:
    return workload.jobs[0].release_date if workload.jobs else 0.0


def _arrivals(workload: Workload) -> list[float]:
    """Release dates, counted from the first."""
    return [job.release_date - _origin(workload) for job in workload.jobs]


def _total(workload: Workload, *times: Iterable[float]) -> float:
    """Add up times counted from the first release date, and the origin once for each job."""
    return fsum(chain([_origin(workload)] * len(workload.jobs), *times))


def _positions(workload: Workload, gpus: int) -> list[float]:
    """Bound the first, second, ... completion by SRPT and by release dates and heights."""
    alone = zip(_arrivals(workload), map(height, workload.jobs), strict=True)
    return list(map(max, sorted(_srpt_completions(workload, gpus)), sorted(map(sum, alone))))


def _moore_hodgson_positions(workload: Workload, gpus: int) -> list[float]:
    jobs, arrivals = workload.jobs, _arrivals(workload)
    curves = [_Areas(job, arrival) for job, arrival in zip(jobs, arrivals, strict=True)]
    horizon = arrivals[-1] + sum(map(area, jobs)) + sum(map(height, jobs)) if jobs else 0.0
    completed = partial(_most_completed, curves, gpus)
    positions, low = [], 0.0
    for position, least in enumerate(_positions(workload, gpus), start=1):
        low = _first_time(completed, position, max(low, least), horizon)
        positions.append(low)
    return positions


def _srpt_completions(workload: Workload, gpus: int) -> list[float]:
    """Complete the areas by shortest remaining time on one machine of speed `gpus`."""
    completions: list[float] = []
    pending: list[float] = []
    now = 0.0
    arrivals = _arrivals(workload)
    for job, arrival, limit in zip(workload.jobs, arrivals, [*arrivals, inf][1:], strict=True):
        now = max(now, arrival) if not pending else now
        heappush(pending, area(job) / gpus)
        while pending and now < limit:
            if now + pending[0] > limit:
                heapreplace(pending, pending[0] - (limit - now))
                now = limit
            else:
                now += heappop(pending)
                completions.append(now)
    return completions


def _mean_busy_times(workload: Workload, gpus: int) -> list[float]:
    """Mean time at which each area is worked on by preemptive smallest area first."""
    total = [area(job) / gpus for job in workload.jobs]
    left = list(total)
    means = [0.0] * len(total)
    pending: list[tuple[float, int]] = []
    now = 0.0
    arrivals = _arrivals(workload)
    for index, (arrival, limit) in enumerate(zip(arrivals, [*arrivals, inf][1:], strict=True)):
        now = max(now, arrival) if not pending else now
        heappush(pending, (total[index], index))
        while pending and now < limit:
            first = pending[0][1]
            if now + left[first] <= limit:
                heappop(pending)
                step, then = left[first], now + left[first]
            else:
                step, then = limit - now, limit
            means[first] += (now + step / 2) * step / total[first]
            now = then
            left[first] -= step
    return means


class _Areas:
    """Least area with which a job completes within a span: the lower hull of its menu."""

    def __init__(self, job: Job, arrival: float) -> None:
        self.arrival = arrival
        points = sorted(
            (job.duration / job.speed(count), count * job.duration / job.speed(count)) for count in job.counts
        )
        self.points: list[tuple[float, float]] = []
        for point in points:
            if self.points and point[1] >= self.points[-1][1]:
                continue  # slower and no cheaper
            while len(self.points) > 1 and not _convex(self.points[-2], self.points[-1], point):
                self.points.pop()
            self.points.append(point)

    def least(self, span: float) -> float | None:
        """Give the least area within a span; None when the job cannot complete in it."""
        if span < self.points[0][0]:
            return None
        for (seconds, cost), (slower, cheaper) in zip(self.points, self.points[1:], strict=False):
            if span < slower:
                return cost + (cheaper - cost) * (span - seconds) / (slower - seconds)
        return self.points[-1][1]


def _convex(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0])


def _most_completed(curves: Sequence[_Areas], gpus: int, time: float) -> int:
    """Count the jobs that can be complete at a time (Moore-Hodgson with due dates counted back from it)."""
    sizes = [(time - curve.arrival, curve.least(time - curve.arrival)) for curve in curves]
    chosen: list[float] = []
    used = 0.0
    for span, size in sorted((span, size) for span, size in sizes if size is not None):
        heappush(chosen, -size)
        used += size
        if used > gpus * span * (1 + OVERFULL):
            used += heappop(chosen)
    return len(chosen)


def _first_time(completed: Callable[[float], int], wanted: int, low: float, high: float) -> float:
    """Find by bisection, from below, the first time at which so many jobs can be complete."""
    if completed(low) >= wanted:
        return low
    for _ in range(40):
        middle = (low + high) / 2
        if completed(middle) >= wanted:
            high = middle
        else:
            low = middle
    return low


def mean_jct(total_completion: Number, workload: Workload) -> float:
    """Turn a sum of completion times into a mean job completion time."""
    return fsum([float(total_completion), *(-job.release_date for job in workload.jobs)]) / len(workload.jobs)
