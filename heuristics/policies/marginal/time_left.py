"""Time left: the remaining time of a training run whose speed differs from part to part."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from gsopt.scenario.adaptive.course import Course

Array = np.ndarray[Any, Any]

#: GPUs are chosen for the work of this many seconds ahead: an hour is long enough to pay for restarts.
AHEAD = 3600.0


class TimeLeft(NamedTuple):
    """The GPU time that a job still needs, and how long its next work takes on each number of GPUs.

    The next work is what the job does in about an hour on its current number of GPUs or, if it has none, on the
    number nearest to a full node.

    Attributes
    ----------
    area
        The fewest GPU-seconds in which the job can complete.
    seconds
        The seconds that the next work takes, keyed by number of GPUs.
    untried
        The numbers of GPUs on which no job of this kind has been measured; empty unless jobs learn from others.
    """

    area: float
    seconds: dict[int, float]
    untried: Collection[int] = ()


class Epochs:
    """The seconds that each epoch (or other part) of a training run takes, for some numbers of GPUs.

    Each number of GPUs is spread over nodes in one particular way.
    """

    def __init__(self, begins: Array, work: Array, seconds: Array, counts: Sequence[int], node: int) -> None:
        self._begins, self._work, self._seconds = begins, work, seconds  # by epoch, then by number of GPUs
        self._counts = np.array(counts)
        self._usual = int(np.abs(self._counts - node).argmin()) if len(counts) else 0
        self._areas = (self._seconds * self._counts).min(axis=1, initial=np.inf)
        self._seconds_from = _from_each(self._seconds)  # from the beginning of each epoch to the end
        self._areas_from = _from_each(self._areas)

    @classmethod
    def of(cls, course: Course, batch: int | None, shapes: Sequence[tuple[int, ...]], node: int) -> "Epochs":
        """Build the table from the true speeds of a course, with GPUs spread over nodes as in `shapes`."""
        ends = np.array([course.work_at(epoch) for epoch in range(course.application.epochs + 1)])
        speeds = np.array([course.highest_speeds_on(shape, batch) for shape in shapes])
        runs = speeds.min(axis=1) > 0
        work = np.diff(ends)
        counts = [sum(shape) for shape, each in zip(shapes, runs, strict=True) if each]
        return cls(ends[:-1], work, (work / speeds[runs]).T, counts, node)

    @property
    def runs(self) -> bool:
        """Whether there is a number of GPUs on which the training runs."""
        return bool(len(self._counts))

    def left(self, epoch: int, done: float, held: int | None) -> TimeLeft:
        """Return the GPU time that a job in an epoch still needs, and the time for its next work.

        `done` is the job's work done so far, and `held` the number of GPUs that it holds, if any. `TimeLeft`
        explains the result.
        """
        if not self.runs:
            return TimeLeft(0.0, {})  # it runs nowhere
        share = min(max((done - self._begins[epoch]) / self._work[epoch], 0.0), 1.0)
        column = self._column(held)
        ending = self._seconds_from[epoch, column] - share * self._seconds[epoch, column] - AHEAD
        last = np.searchsorted(-self._seconds_from[epoch + 1 :, column], -max(ending, 0.0)) + epoch + 1
        ahead = self._seconds_from[epoch] - self._seconds_from[last] - share * self._seconds[epoch]
        area = self._areas_from[epoch] - share * self._areas[epoch]
        return TimeLeft(float(area), dict(zip(self._counts.tolist(), ahead.tolist(), strict=True)))

    def _column(self, held: int | None) -> int:
        """Return the column of a number of GPUs or, if there is none, the column nearest to a full node."""
        found = np.flatnonzero(self._counts == held)
        return int(found[0]) if len(found) else self._usual


def _from_each(values: Array) -> Array:
    """Return the sum of the values from each index to the end, followed by a 0."""
    sums = np.zeros((len(values) + 1, *values.shape[1:]))
    sums[:-1] = values[::-1].cumsum(axis=0)[::-1]
    return sums
