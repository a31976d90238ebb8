"""Moore and Hodgson: how many jobs may be completed by a time."""

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush

from gsopt.bounds.position import completions_by_position
from gsopt.bounds.work import area, arrivals_of, first_release, height, options, sum_from_first_release
from gsopt.job import Job, Workload
from gsopt.tolerances import OVERFULL


def moore_hodgson_bound(workload: Workload, gpus: float) -> float:
    """Bound the sum of completion times by how many jobs can be complete at all at each time.

    At least as good as the position bound, and takes O(n^2 log n) per bisection step.

    Examples
    --------
    >>> sizes = [("a", 0, 4, 2), ("b", 3, 1, 1)]
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=g) for n, r, d, g in sizes]
    >>> round(moore_hodgson_bound(Workload(jobs=jobs), 2), 6)
    8.5
    """
    return sum_from_first_release(workload, _moore_hodgson_positions(workload, gpus))


def moore_hodgson_positions(workload: Workload, gpus: float) -> list[float]:
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
    origin = first_release(workload)
    return [origin + time for time in _moore_hodgson_positions(workload, gpus)]


def _moore_hodgson_positions(workload: Workload, gpus: float) -> list[float]:
    jobs, arrivals = workload.jobs, arrivals_of(workload)
    curves = [_Areas(job, arrival) for job, arrival in zip(jobs, arrivals, strict=True)]
    horizon = arrivals[-1] + sum(map(area, jobs)) + sum(map(height, jobs)) if jobs else 0.0
    completed = partial(_most_completed, curves, gpus)
    positions, low = [], 0.0
    for position, least in enumerate(completions_by_position(workload, gpus), start=1):
        low = _first_time(completed, position, max(low, least), horizon)
        positions.append(low)
    return positions


class _Areas:
    """Least area with which a job completes within a span: the lower hull of the menus of all its modes.

    Phases are not looked at: without them jobs complete within shorter spans and on smaller areas.
    """

    def __init__(self, job: Job, arrival: float) -> None:
        self.arrival = arrival
        points = sorted(
            (job.duration / speed, count * job.duration / speed) for _, count, speed in options(job)
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


def _most_completed(curves: Sequence[_Areas], gpus: float, time: float) -> int:
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
