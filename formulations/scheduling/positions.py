"""Positions: time windows of the first, second, ... completion in any schedule that may be optimal."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, ulp

from formulations.scheduling.instance import Instance
from formulations.scheduling.windows import Windows
from gsopt.core.numbers.tolerances import CLOCK_TICKS
from gsopt.problems.scheduling import Scheduling
from gsopt.schedule.bounds import moore_hodgson_positions

#: Units of the model's time from the first release date to the horizon.
_UNITS = 1e3


@dataclass(frozen=True)
class Positions:
    """Windows of completion by position, counted from 0, and the cells of time that they allow.

    An epoch is the time from one distinct release date to the next. The last epoch ends at the horizon, the
    latest possible time of the last completion. The cell of epoch e and position p is the part of e in which p
    jobs are complete. The fields are in seconds. Other times are in the model's unit, a thousandth of the time
    from the first release date to the horizon.
    """

    instance: Instance  # the jobs
    windows: Windows  # when each job can complete
    # lower, upper: window of the completion at each position, in seconds
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    # sum of completion times in seconds that is known to be possible; infinity if none is known
    total: float

    @classmethod
    def of(
        cls, problem: Scheduling, instance: Instance, total: float = inf, windows: Windows | None = None
    ) -> "Positions":
        """Bound each position's completion time by Moore and Hodgson's rule, the jobs' windows and the total.

        Only schedules whose sum of completion times is at most `total` matter.
        """
        if windows is None:
            windows = Windows.of(instance, total)
        proven = moore_hodgson_positions(problem.own_clock.workload, problem.gpus)
        low, high = (sorted(times) for times in zip(*windows.spans, strict=True))
        lower = list(map(max, proven, low))
        upper = list(map(min, _latest(lower, total), high))
        slack = CLOCK_TICKS * ulp(upper[-1]) if upper[-1] < inf else 0.0
        return cls(
            instance,
            windows,
            tuple(time - slack for time in lower),
            tuple(time + slack for time in upper),
            total,
        )

    @property
    def contradict(self) -> bool:
        """Whether some window is empty, so that no schedule meets the deadlines and the total."""
        return any(low > high for low, high in zip(self.lower, self.upper, strict=True))

    @cached_property
    def unit(self) -> float:
        """The length of one unit of the model's time, in seconds."""
        return self.upper[-1] / _UNITS

    def time(self, seconds: float) -> float:
        """Convert a time in seconds to the model's unit."""
        return seconds / self.unit

    @cached_property
    def window(self) -> tuple[tuple[float, float], ...]:
        """The earliest and the latest completion at each position, in the model's unit."""
        return tuple(
            (self.time(low), self.time(high)) for low, high in zip(self.lower, self.upper, strict=True)
        )

    @cached_property
    def epochs(self) -> tuple[tuple[float, float], ...]:
        """The beginning and the end of each epoch, in the model's unit."""
        starts = [self.time(arrival) for arrival in self.instance.arrivals]
        return tuple(zip(starts, [*starts[1:], self.window[-1][1]], strict=True))

    def part(self, epoch: int, position: int) -> tuple[float, float]:
        """Return the window of a position within an epoch. If it is empty, its end precedes its beginning."""
        (begin, end), (low, high) = self.epochs[epoch], self.window[position]
        return max(begin, low), min(end, high)

    def meets(self, epoch: int, position: int) -> bool:
        """Check whether the completion at a position can be in an epoch."""
        begin, end = self.part(epoch, position)
        return begin <= end

    @cached_property
    def cells(self) -> dict[tuple[int, int], float]:
        """The longest possible duration of each cell in the model's unit, keyed by epoch and position."""
        cells = {}
        for epoch, (begin, end) in enumerate(self.epochs):
            arrived = sum(time <= self.instance.arrivals[epoch] for time in self.instance.release)
            for position, (_, high) in enumerate(self.window):
                low = self.window[position - 1][0] if position else 0.0
                most = min(end, high) - max(begin, low)
                if position <= arrived and most >= 0:
                    cells[epoch, position] = most
        return cells

    def allows(self, job: int, position: int) -> bool:
        """Check whether a job can complete at a position."""
        first, last = self.windows.places(job)
        low, high = self.windows.spans[job]
        return first <= position <= last and low <= self.upper[position] and self.lower[position] <= high


def _latest(lower: Sequence[float], total: float) -> list[float]:
    """Return the latest completion at each position that is compatible with the total.

    If the completion at a position is at its latest, later completions are no earlier, and earlier ones are at
    least at their lower bounds.
    """
    if total == inf:
        return [inf] * len(lower)
    latest = []
    for position in range(len(lower)):
        rest = total - sum(lower[:position])
        later = ((rest - sum(lower[end:])) / (end - position) for end in range(position + 1, len(lower) + 1))
        latest.append(max(min(later), lower[position]))
    return latest
