"""Buckets: a relaxation that decides in which time intervals each job runs, and in which one it completes."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import inf

import numpy as np
from numpy.typing import NDArray

from formulations.common.probing import ChoiceColumns
from formulations.common.rows import Entry, SparseRows
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.groups import groups, taken
from formulations.scheduling.instance import Instance, SpeedMode
from formulations.scheduling.mixture import Item, lift_prices, shortest_mixture
from formulations.scheduling.windows import Span, Windows
from gsopt.core.numbers.tolerances import LINEAR_ROWS
from gsopt.solvers.standard_form import StandardForm

Reals = NDArray[np.float64]

#: Buckets shorter than this fraction of the horizon are merged with their neighbours.
SHORTEST = 5e-4

#: Units of the model's time from the first release date to the horizon.
_UNITS = 100.0

#: Cost of not completing a job at all, as a multiple of the sum of completion times of the best known schedule.
_DEAR = 10.0


@dataclass(frozen=True)
class Grid:
    """The times that separate the buckets."""

    times: tuple[float, ...]  # ascending, in seconds on the instance's clock; the last one is the horizon

    @classmethod
    def of(
        cls, instance: Instance, windows: Windows, times: Iterable[float], *, shortest: float = SHORTEST
    ) -> "Grid":
        """Build a grid from release dates and times of interest. The horizon is the end of the last window.

        A time is left out if its distance to another one is less than `shortest`, a fraction of the horizon.
        Release dates are inserted first, and left out only if `shortest` is larger than the default.
        """
        kept = [0.0, max(high for _, high in windows.spans)]
        for wanted, apart in (instance.arrivals, shortest if shortest > SHORTEST else 0.0), (times, shortest):
            for time in sorted(wanted):
                insert(kept, time, apart)
        return cls(tuple(kept))


def insert(times: list[float], time: float, apart: float) -> None:
    """Insert a time between others unless it is too close; `apart` is a fraction of the last time."""
    place = bisect_left(times, time)
    if 0 < place < len(times) and min(time - times[place - 1], times[place] - time) > apart * times[-1]:
        times.insert(place, time)


def times_of_interest(best: BestSchedule, windows: Windows) -> set[float]:
    """Return the ends of windows, earliest possible completions, and completions in the best schedule."""
    earliest = map(best.instance.earliest, range(len(best.instance)))
    return {*earliest, *chain(*windows.spans), *(best.completions or ())}


@dataclass(frozen=True)
class BucketModel:
    """The bucket relaxation on one grid, as arrays.

    Sets: jobs j, modes k of each job, buckets b between consecutive times of the grid.

    Parameters: release date, work and rates of each job; the grid; the windows of completion and known orders;
    the sum of completion times of the best known schedule.

    Variables: complete[j, b], binary: j completes in bucket b; run[j, b, k, c]: time for which j runs in mode k
    in bucket c if it completes in b; total[j, k, c]: its sum over b; finish[j]: completion time; never[j]: 1 if
    j does not complete.

    Objective: minimize the sum of finish, plus a prohibitive cost of never[j]. So the program stays feasible no
    matter what is excluded, and infeasibility need not be distinguished from rounding errors.

    Constraints: each job completes in one bucket of its window. If it completes in b, it does all its work in
    buckets up to b, and runs in each bucket at most as long as the bucket lasts. In each bucket, the GPUs
    suffice: in total (area), and in groups of K GPUs for every power of two and every divisor K of their
    number. A job on k GPUs takes up at least floor(k / K) whole groups and, if K divides the number of GPUs,
    any one job may count as ceil(k / K) groups instead. If no mixture of configurations achieves a solution's
    times within a bucket, the prices of the shortest mixture add a row for every bucket. A job finishes no
    earlier than its bucket begins, and no earlier than its possible start in the bucket plus its time there. Of
    two jobs in a known order, the first one finishes first.

    Size: at most jobs x buckets binaries; jobs x modes x buckets^2 / 2 continuous variables within the windows.

    Source: the relaxation is gsopt's own, for the problem of Ares, Eq. 1. The bound within a job's own bucket
    follows from a mean busy time argument.
    """

    instance: Instance  # the jobs
    grid: Grid  # the buckets
    windows: Windows  # when each job can complete, and which jobs complete before others
    limit: float  # sum of completion times up to which schedules matter, in seconds
    # prices of modes: in any bucket, the times of modes multiplied by their prices add up to at most its
    # length
    cuts: tuple[Mapping[Item, float], ...] = ()

    @cached_property
    def unit(self) -> float:
        """The length of one unit of the model's time, in seconds: a hundredth of the horizon."""
        return self.grid.times[-1] / _UNITS

    @cached_property
    def times(self) -> Reals:
        """The grid's times in the model's unit."""
        return np.array(self.grid.times) / self.unit

    @cached_property
    def lengths(self) -> Reals:
        """The length of each bucket in the model's unit."""
        return np.diff(self.times)

    @property
    def cutoff(self) -> float:
        """The limit on the sum of completion times in the model's unit."""
        return self.limit / self.unit

    def begin(self, job: int) -> int:
        """Return the first bucket in which a job may run."""
        return min(bisect_right(self.grid.times, self.instance.release[job]), len(self.lengths)) - 1

    def begins(self, job: int, bucket: int) -> float:
        """Return the time at which a job can begin to run in a bucket, in the model's unit."""
        return max(float(self.times[bucket]), self.instance.release[job] / self.unit)

    @cached_property
    def buckets(self) -> list[range]:
        """The buckets in which each job may complete."""
        return [self._window(job) for job in range(len(self.instance))]

    def _window(self, job: int) -> range:
        times, (low, high) = self.grid.times, self.windows.spans[job]
        last = max(bisect_left(times, high) - 1, self.begin(job))
        first = min(max(bisect_right(times, low) - 1, self.begin(job)), last)
        return range(first, last + 1)

    @cached_property
    def _modes(self) -> list[list[tuple[int, SpeedMode]]]:
        return [list(enumerate(modes)) for modes in self.instance.modes]

    @cached_property
    def columns(self) -> dict[tuple[int, ...], int]:
        """The index of each column: (j,) finish, (j, b) complete, (j, k, c) total, (j, b, k, c) run.

        The columns never[j] of all jobs follow.
        """
        keys: list[tuple[int, ...]] = [(job,) for job in range(len(self.instance))]
        for job, window in enumerate(self.buckets):
            modes, first = self._modes[job], self.begin(job)
            keys += [(job, bucket) for bucket in window]
            keys += [(job, k, c) for k, _ in modes for c in range(first, window[-1] + 1)]
            keys += [(job, b, k, c) for b in window for k, _ in modes for c in range(first, b + 1)]
        return {key: number for number, key in enumerate(keys)}

    @property
    def size(self) -> int:
        """The number of columns."""
        total = 2 * len(self.instance)
        for job, window in enumerate(self.buckets):
            first, modes = self.begin(job), len(self._modes[job])
            total += len(window) + modes * (window[-1] + 1 - first) + modes * sum(b + 1 - first for b in window)
        return total

    @cached_property
    def largest(self) -> Reals:
        """The largest value of each column in any schedule that matters, shape (columns,)."""
        jobs = len(self.instance)
        found = np.ones(self.size)
        found[:jobs] = [high / self.unit for _, high in self.windows.spans]
        for key, column in self.columns.items():
            if len(key) > 2:  # noqa: PLR2004 - run and total, not complete
                found[column] = self.times[key[-1] + 1] - self.begins(key[0], key[-1])
        return found

    @property
    def choices(self) -> list[ChoiceColumns]:
        """The columns that choose a bucket for each job, as choices to be probed."""
        return [
            ChoiceColumns(
                np.array([self.columns[job, bucket] for bucket in window], dtype=np.int32),
                np.array(window, dtype=np.int32),
                job,
            )
            for job, window in enumerate(self.buckets)
        ]

    def spans(self, kept: Sequence[tuple[int, int]]) -> list[Span]:
        """Return each job's window of completion, given the range of buckets that remains possible for it."""
        times = self.grid.times
        return [
            (times[window[first]], times[window[end - 1] + 1])
            for window, (first, end) in zip(self.buckets, kept, strict=True)
        ]

    def form(self) -> StandardForm:
        """Return the relaxation in standard form."""
        rows = SparseRows()
        jobs = len(self.instance)
        for job in range(jobs):
            self._job_rows(rows, job)
        for bucket in range(len(self.lengths)):
            self._capacity_rows(rows, bucket)
        for first, second in self.windows.needed:
            self._order_rows(rows, first, second)
        cost, lower, upper = np.zeros(self.size), np.zeros(self.size), np.full(self.size, inf)
        cost[:jobs] = 1.0
        cost[-jobs:] = _DEAR * self.cutoff
        lower[:jobs] = [low / self.unit for low, _ in self.windows.spans]
        upper[:jobs] = [high / self.unit for _, high in self.windows.spans]
        integer = np.zeros(self.size, dtype=np.bool_)
        integer[[self.columns[job, b] for job, window in enumerate(self.buckets) for b in window]] = True
        upper[integer] = upper[-jobs:] = 1.0
        return StandardForm.build(
            cost=cost,
            matrix=rows.matrix(self.size),
            row_lower=rows.lower,
            row_upper=rows.upper,
            column_lower=lower,
            column_upper=upper,
            integer=integer,
            rows=tuple(rows.names),
        )

    def completions(self, values: Reals) -> list[float]:
        """Return the completion times in seconds according to the given column values."""
        return [float(value) * self.unit for value in values[: len(self.instance)]]

    def overfull(self, values: Reals) -> list[Mapping[Item, float]]:
        """Return prices of modes for each bucket that is too short for the times that jobs spend in it."""
        found: list[Mapping[Item, float]] = []
        for bucket, length in enumerate(self.lengths):
            asked = {item: float(values[self.columns[*item, bucket]]) for item in self._there(bucket)}
            mixture = shortest_mixture(
                self.instance, {item: time for item, time in asked.items() if time > LINEAR_ROWS}
            )
            if mixture.length > length + _UNITS * LINEAR_ROWS:
                prices = lift_prices(self.instance, mixture.prices)
                if prices not in found:
                    found.append(prices)
        return found

    def _there(self, bucket: int) -> list[Item]:
        """Return all pairs of a job that may run in a bucket and one of the job's modes."""
        return [
            (job, k)
            for job, window in enumerate(self.buckets)
            if self.begin(job) <= bucket <= window[-1]
            for k, _ in self._modes[job]
        ]

    def _job_rows(self, rows: SparseRows, job: int) -> None:
        columns, window, modes = self.columns, self.buckets[job], self._modes[job]
        first, (low, high) = self.begin(job), (time / self.unit for time in self.windows.spans[job])
        complete = [(columns[job, b], 1.0) for b in window]
        never = self.size - len(self.instance) + job
        rows.add(f"complete[{job}]", [*complete, (never, 1.0)], 1.0, 1.0)
        scale = self.unit / self.instance.work[job]
        for b in window:
            before = range(first, b + 1)
            work = [(columns[job, b, k, c], mode.rate * scale) for k, mode in modes for c in before]
            rows.add(f"work[{job},{b}]", [*work, (columns[job, b], -1.0)], 0.0, 0.0)
            for c in before:
                spent = [(columns[job, b, k, c], 1.0) for k, _ in modes]
                length = max(min(float(self.times[c + 1]), high) - self.begins(job, c), 0.0)
                rows.add(f"alone[{job},{b},{c}]", [*spent, (columns[job, b], -length)], upper=0.0)
        for k, _ in modes:
            for c in range(first, window[-1] + 1):
                parts = [(columns[job, b, k, c], 1.0) for b in window if b >= c]
                rows.add(f"total[{job},{k},{c}]", [*parts, (columns[job, k, c], -1.0)], 0.0, 0.0)
        starts = [(columns[job, b], -max(float(self.times[b]), low)) for b in window]
        rows.add(f"after[{job}]", [(job, 1.0), *starts], lower=0.0)
        own = [(columns[job, b, k, b], -1.0) for b in window for k, _ in modes]
        begun = [(columns[job, b], -self.begins(job, b)) for b in window]
        rows.add(f"own[{job}]", [(job, 1.0), *begun, *own], lower=0.0)

    def _capacity_rows(self, rows: SparseRows, bucket: int) -> None:
        items, length, gpus = self._there(bucket), float(self.lengths[bucket]), self.instance.gpus
        if not items:
            return
        held = [(job, self.instance.modes[job][k].gpus, self.columns[job, k, bucket]) for job, k in items]
        area = [(column, float(count)) for _, count, column in held]
        rows.add(f"area[{bucket}]", area, upper=gpus * length)
        for size, i in groups(self.instance, items):
            divides = gpus % size == 0
            used = [(column, taken(count, size, whole=job == i and divides)) for job, count, column in held]
            entries = [(column, float(count)) for column, count in used if count]
            rows.add(f"groups[{size},{i},{bucket}]", entries, upper=gpus // size * length)
        for number, prices in enumerate(self.cuts):
            priced: list[Entry] = [
                (self.columns[*item, bucket], prices[item]) for item in items if item in prices
            ]
            rows.add(f"mixture[{number},{bucket}]", priced, upper=length)

    def _order_rows(self, rows: SparseRows, first: int, second: int) -> None:
        """Add rows that make the first job complete no later than the second, bucket by bucket."""
        rows.add(f"order[{first},{second}]", [(first, 1.0), (second, -1.0)], upper=0.0)
        for bucket in self.buckets[second]:
            done = [(self.columns[second, b], 1.0) for b in self.buckets[second] if b <= bucket]
            mine = [(self.columns[first, b], -1.0) for b in self.buckets[first] if b <= bucket]
            rows.add(f"order[{first},{second},{bucket}]", [*done, *mine], upper=0.0)
