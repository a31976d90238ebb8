"""Moore and Hodgson: a bound from the largest number of jobs that can be complete by each time."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from heapq import heappop, heappush

from gsopt.core.numbers.grid import Exact, Number, decimal, float_below
from gsopt.scenario.job import Job, Workload
from gsopt.schedule.bounds.position import positions
from gsopt.schedule.bounds.work import Steps, options

#: Precision of times in bits, relative to a step and to the last stride before a bisection.
_BITS = 40


def moore_hodgson_bound(workload: Workload, gpus: Number) -> Exact:
    """Return a lower bound on the sum of completion times, based on Moore and Hodgson's rule.

    The bound follows from the largest number of jobs that can be complete by each time. It is at least as good
    as `gsopt.schedule.bounds.position_bound`. Complexity: O(S n^2 log n) for n jobs, if bisection finds the
    time for each number of jobs in S steps.

    Examples
    --------
    >>> sizes = [("a", 0, 4, 2), ("b", 3, 1, 1)]
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=g) for n, r, d, g in sizes]
    >>> moore_hodgson_bound(Workload(jobs=jobs), 2)
    Fraction(17, 2)
    """
    steps = Steps.of(workload, gpus).divided(2**_BITS)
    return steps.completed(sum(latest_positions(steps, workload, gpus)))


def moore_hodgson_positions(workload: Workload, gpus: Number) -> list[float]:
    """Return lower bounds on the first, second, ... completion time, in seconds.

    Consider a time t, and a single machine that is as fast as all GPUs combined. Suppose that each job needs
    only the smallest area (GPU-seconds) with which it can complete between its release and t. No schedule
    completes its q-th job before the first t by which this machine can complete q jobs. Bisection finds this t;
    for each t tried, Moore and Hodgson's rule, applied to reversed time, yields the largest number of jobs that
    can be complete. The results are in ascending order.

    Examples
    --------
    >>> sizes = [("a", 0, 4, 2), ("b", 3, 1, 1)]
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=g) for n, r, d, g in sizes]
    >>> moore_hodgson_positions(Workload(jobs=jobs), 2)
    [4.0, 4.5]
    """
    steps = Steps.of(workload, gpus).divided(2**_BITS)
    found = latest_positions(steps, workload, gpus)
    return [float_below(steps.origin + time * steps.seconds) for time in found]


def latest_positions(steps: Steps, workload: Workload, gpus: Number) -> list[int]:
    """Return lower bounds on the first, second, ... completion time in steps, found by bisection."""
    curves = [
        _Areas(job, arrival, steps.seconds, gpus)
        for job, arrival in zip(workload.jobs, steps.release, strict=True)
    ]
    completed = partial(_most_completed, curves)
    found: list[int] = []
    low = 0
    for position, least in enumerate(positions(steps), start=1):
        low = _first_time(completed, position, max(low, least), min(steps.height))
        found.append(low)
    return found


class _Areas:
    """The minimum area of a job that completes within a time span: the lower hull of all its modes' menus.

    Phases are ignored, since without them jobs need less time and smaller areas. Spans are counted in steps.
    An area is measured as the number of steps that all GPUs together need for it, rounded down.
    """

    def __init__(self, job: Job, arrival: int, step: Fraction, gpus: Number) -> None:
        self.arrival = arrival
        points = sorted(
            (int(seconds), int(seconds * count / decimal(gpus)))
            for _, count, speed in options(job)
            for seconds in (Fraction(decimal(job.duration)) / decimal(speed) / step,)
        )
        self.points: list[tuple[int, int]] = []
        for point in points:
            if self.points and point[1] >= self.points[-1][1]:
                continue  # slower and no cheaper
            while len(self.points) > 1 and not _convex(self.points[-2], self.points[-1], point):
                self.points.pop()
            self.points.append(point)

    def least(self, span: int) -> int | None:
        """Return the minimum area within a span, or None if the job cannot complete in it."""
        if span < self.points[0][0]:
            return None
        for (seconds, cost), (slower, cheaper) in zip(self.points, self.points[1:], strict=False):
            if span < slower:
                return cost + (cheaper - cost) * (span - seconds) // (slower - seconds)
        return self.points[-1][1]


def _convex(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    return (b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0])


def _most_completed(curves: Sequence[_Areas], time: int) -> int:
    """Return the largest number of jobs that can be complete at a time (Moore-Hodgson on reversed time)."""
    sizes = [(time - curve.arrival, curve.least(time - curve.arrival)) for curve in curves]
    chosen: list[int] = []
    used = 0
    for span, size in sorted((span, size) for span, size in sizes if size is not None):
        heappush(chosen, -size)
        used += size
        if used > span:
            used += heappop(chosen)
    return len(chosen)


def _first_time(completed: Callable[[int], int], wanted: int, low: int, stride: int) -> int:
    """Return a time before which `wanted` jobs cannot be complete, found by growing strides and bisection."""
    if completed(low) >= wanted:
        return low
    while completed(low + stride) < wanted:
        low, stride = low + stride, 2 * stride
    high = low + stride
    while high - low > max(1, stride >> _BITS):
        middle = (low + high) // 2
        if completed(middle) >= wanted:
            high = middle
        else:
            low = middle
    return low
