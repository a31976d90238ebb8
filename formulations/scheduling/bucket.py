"""Buckets: a relaxation that knows in which interval of time each job completes, and what ran before it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from formulations.scheduling.instance import Instance, Mode
from formulations.scheduling.mixture import Item, lifted, shortest_mixture
from formulations.scheduling.order import Plan
from gsopt.backends import Outcome
from gsopt.standard_form import StandardForm

Reals = NDArray[np.float64]

#: Buckets shorter than this share of the horizon are merged with their neighbours.
_SHORTEST = 5e-4

#: Room left to the best schedule known where it lies on a limit, relative to the horizon: without any the
#: programs are on the brink of infeasibility, where simplex loses its way.
_ROUNDING = 1e-7


#: Reduced cost beyond the gap, in the model's time, that is surely no rounding.
_SURELY = 1e-4

#: Times below this are rounding, in the model's time; and by how much a bucket must be too full, relatively.
_NOISE, _EXCESS = 1e-6, 1e-5

#: Spans of time in seconds, ascending, that do not touch.
Spans = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Grid:
    """Times between which the buckets lie, and when each job can complete in a schedule worth finding.

    Attributes
    ----------
    times
        Rising times in seconds.
    spans
        When each job can complete.
    upper
        Sum of completion times of the best schedule known: only better ones are looked for.
    """

    times: tuple[float, ...]
    spans: tuple[Spans, ...]
    upper: float

    @classmethod
    def of(
        cls,
        instance: Instance,
        times: Iterable[float],
        spans: Sequence[Spans],
        upper: float,
        *,
        shortest: float = _SHORTEST,
    ) -> "Grid":
        """Make a grid of times that matter.

        Parameters
        ----------
        instance
            The jobs.
        times
            Times in seconds. Release dates are added.
        spans
            When each job can complete.
        upper
            Sum of completion times of the best schedule known.
        shortest
            Share of the horizon; a time closer than that to another one is left out. Release dates come
            first, and are left out only if the share is larger than usual.
        """
        slack = max(upper - sum(map(instance.earliest, range(len(instance)))), 0.0)
        limits = [
            (instance.earliest(job), min(instance.earliest(job) + slack, instance.deadline[job]))
            for job in range(len(instance))
        ]
        spans = [_within(own, *limit) for own, limit in zip(spans, limits, strict=True)]
        first, end = instance.arrivals[0], max(own[-1][1] for own in spans)
        kept = [first, end]
        for wanted, apart in (instance.arrivals, shortest if shortest > _SHORTEST else 0.0), (times, shortest):
            for time in sorted(time for time in wanted if first < time < end):
                place = bisect_left(kept, time)
                if min(time - kept[place - 1], kept[place] - time) > apart * (end - first):
                    kept.insert(place, time)
        return cls(tuple(kept), tuple(spans), upper)


def _within(spans: Spans, least: float, most: float) -> Spans:
    """Cut spans off below and above; what is left is at least one moment."""
    cut = [(max(begin, least), min(end, most)) for begin, end in spans]
    return tuple(span for span in cut if span[0] <= span[1]) or ((least, least),)


@dataclass
class _Rows:
    """A matrix under construction."""

    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)

    def add(self, entries: Iterable[tuple[int, float]], lower: float = -inf, upper: float = inf) -> None:
        """Add one row."""
        row = len(self.lower)
        for column, value in entries:
            self.rows.append(row)
            self.columns.append(column)
            self.values.append(value)
        self.lower.append(lower)
        self.upper.append(upper)


@dataclass(frozen=True)
class BucketModel:
    """The relaxation on one grid, in arrays.

    Sets: jobs j, modes k of each, buckets b between two times of the grid.

    Parameters: release date, work and rates of each job; the grid; the upper bound that cuts windows.

    Variables: complete[j, b], binary, j completes in bucket b; run[j, b, k, c], the time that j runs in mode k
    in bucket c if it completes in b; total[j, k, c], its sum over b; finish[j], the completion time.

    Objective: the sum of finish.

    Constraints: each job completes in one bucket of its window. If in b, it does all its work in buckets up to
    b, and runs no longer in any than the bucket is long. In each bucket the GPUs suffice, in all (area) and for
    every K = 2, 4, ... that divides their number in groups of K: a job on k GPUs takes up floor(k / K) groups
    whole, and any one job ceil(k / K). Where a solution asks for more than any mixture of configurations has,
    the prices of the shortest mixture bound its modes, in every bucket. A job finishes not before its bucket
    begins, nor before it can have begun in it plus the time it runs in it. Of two jobs with proportional rates
    the one released no later, with no more work and no later deadline, finishes first. Only schedules at least
    as good as the known one are looked for.

    Size: at most jobs x buckets binaries; jobs x modes x buckets^2 / 2 continuous variables within the windows.

    Source: the relaxation is gsopt's own, for the decision of Ares, Eq. 1; the bound on a job's own bucket is
    the mean busy time argument within it.

    Attributes
    ----------
    instance
        The jobs.
    grid
        The buckets.
    cuts
        Prices of modes that add up to at most the time in which they run.
    """

    instance: Instance
    grid: Grid
    cuts: tuple[Mapping[Item, float], ...] = ()

    @cached_property
    def unit(self) -> float:
        """Seconds of one unit of the model's time: a hundredth of the horizon."""
        return (self.grid.times[-1] - self.grid.times[0]) / 100

    @cached_property
    def times(self) -> Reals:
        """The grid in the model's time, from 0."""
        return (np.array(self.grid.times) - self.grid.times[0]) / self.unit

    @cached_property
    def lengths(self) -> Reals:
        """Length of each bucket."""
        return np.diff(self.times)

    def begin(self, job: int) -> int:
        """First bucket in which a job may run."""
        return bisect_right(self.grid.times, self.instance.release[job]) - 1

    def begins(self, job: int, bucket: int) -> float:
        """When a job can begin to run in a bucket, in the model's time."""
        return max(float(self.times[bucket]), self._model_time(self.instance.release[job]))

    def window(self, job: int) -> tuple[int, ...]:
        """Buckets in which a job may complete."""
        times, slack = self.grid.times, _ROUNDING * (self.grid.times[-1] - self.grid.times[0])
        return tuple(
            bucket
            for bucket in range(self.begin(job), len(times) - 1)
            if any(
                begin - slack <= times[bucket + 1] and times[bucket] < end + slack
                for begin, end in self.grid.spans[job]
            )
        )

    @cached_property
    def _windows(self) -> list[tuple[int, ...]]:
        return [self.window(job) for job in range(len(self.instance))]

    @cached_property
    def _modes(self) -> list[list[tuple[int, Mode]]]:
        return [list(enumerate(modes)) for modes in self.instance.modes]

    @cached_property
    def columns(self) -> dict[tuple[int, ...], int]:
        """Number of each column: (j,) finish, (j, b) complete, (j, k, c) total, (j, b, k, c) run."""
        keys: list[tuple[int, ...]] = [(job,) for job in range(len(self.instance))]
        for job, window in enumerate(self._windows):
            keys += [(job, bucket) for bucket in window]
            keys += [(job, k, c) for k, _ in self._modes[job] for c in range(self.begin(job), (window[-1] + 1))]
            keys += [
                (job, bucket, k, c)
                for bucket in window
                for k, _ in self._modes[job]
                for c in range(self.begin(job), bucket + 1)
            ]
        return {key: number for number, key in enumerate(keys)}

    @property
    def size(self) -> int:
        """Number of columns."""
        total = len(self.instance)
        for job, window in enumerate(self._windows):
            first, modes = self.begin(job), len(self._modes[job])
            total += len(window) + modes * (window[-1] + 1 - first) + modes * sum(b + 1 - first for b in window)
        return total

    def form(self, *, relaxed: bool = False) -> StandardForm:
        """Give the arrays; without integrality when relaxed."""
        rows = _Rows()
        for job in range(len(self.instance)):
            self._job_rows(rows, job)
        for bucket in range(len(self.lengths)):
            self._capacity_rows(rows, bucket)
        for first, second in self._ordered_pairs():
            self._order_rows(rows, first, second)
        jobs = len(self.instance)
        upper = (self.grid.upper - jobs * self.grid.times[0]) / self.unit
        rows.add(((job, 1.0) for job in range(jobs)), upper=upper * (1 + _ROUNDING) + _ROUNDING)
        cost = np.zeros(self.size)
        cost[:jobs] = 1.0
        column_lower, column_upper = np.zeros(self.size), np.full(self.size, np.inf)
        for job, spans in enumerate(self.grid.spans):
            column_lower[job] = self._model_time(spans[0][0]) * (1 - _ROUNDING)
            column_upper[job] = self._model_time(spans[-1][1]) * (1 + _ROUNDING) + _ROUNDING
        integer = np.array([len(key) == 2 for key in self.columns]) & (not relaxed)  # noqa: PLR2004 - complete
        column_upper[integer] = 1.0
        return StandardForm.build(
            cost=cost,
            matrix=coo_array((rows.values, (rows.rows, rows.columns)), shape=(len(rows.lower), self.size)),
            row_lower=rows.lower,
            row_upper=rows.upper,
            column_lower=column_lower,
            column_upper=column_upper,
            integer=integer,
            offset=0.0,
        )

    def seconds(self, total: float) -> float:
        """Turn a sum of finish times of the model into a sum of completion times."""
        return total * self.unit + len(self.instance) * self.grid.times[0]

    def completions(self, values: Reals) -> list[float]:
        """Read the completion times out of the columns."""
        return [float(value) * self.unit + self.grid.times[0] for value in values[: len(self.instance)]]

    def narrowed(self, form: StandardForm, outcome: Outcome) -> tuple[Spans, ...]:
        """Leave out the buckets in which a job cannot complete, as the relaxation's reduced costs prove."""
        if outcome.duals is None or outcome.objective is None:
            return self.grid.spans
        reduced = form.cost - form.matrix.T @ outcome.duals
        jobs = len(self.instance)
        most = (self.grid.upper - jobs * self.grid.times[0]) / self.unit - outcome.objective
        found: list[Spans] = []
        for job, window in enumerate(self._windows):
            kept: list[tuple[float, float]] = []
            for bucket in window:
                if reduced[self.columns[job, bucket]] > most + _SURELY:
                    continue
                begin, end = self.grid.times[bucket], self.grid.times[bucket + 1]
                if kept and kept[-1][1] == begin:
                    kept[-1] = (kept[-1][0], end)
                else:
                    kept.append((begin, end))
            own = [
                (max(begin, low), min(end, high))
                for begin, end in kept
                for low, high in self.grid.spans[job]
                if max(begin, low) <= min(end, high)
            ]
            found.append(tuple(own) or self.grid.spans[job])
        return tuple(found)

    def overfull(self, values: Reals) -> list[dict[Item, float]]:
        """Find prices that bound the modes in each bucket that asks for more than the GPUs can do."""
        found: list[dict[Item, float]] = []
        for bucket, length in enumerate(self.lengths):
            asked = {
                (job, k): float(values[self.columns[job, k, bucket]])
                for job, window in enumerate(self._windows)
                if self.begin(job) <= bucket <= window[-1]
                for k, _ in self._modes[job]
            }
            mixture = shortest_mixture(
                self.instance, {item: time for item, time in asked.items() if time > _NOISE}
            )
            if mixture.length > length * (1 + _EXCESS) + _NOISE:
                prices = lifted(self.instance, mixture.prices)
                if prices not in found:
                    found.append(prices)
        return found

    def point(self, plan: Plan) -> Reals | None:
        """Give the columns of a schedule; None when it completes a job outside its window."""
        values = np.zeros(self.size)
        times = np.array(self.grid.times)
        buckets: list[int] = []
        for job, time in enumerate(plan.completions):
            slack = _ROUNDING * times[-1]
            bucket = int(np.searchsorted(times, time - slack)) - 1
            if bucket not in self._windows[job]:
                return None
            buckets.append(bucket)
            values[self.columns[job,]] = self._model_time(time)
            values[self.columns[job, bucket]] = 1.0
        for job, gpus, bucket, seconds in _pieces(plan, self.grid.times):
            k = next((k for k, mode in self._modes[job] if mode.gpus == gpus), None)
            if k is None or bucket > buckets[job]:
                continue
            values[self.columns[job, k, bucket]] += seconds / self.unit
            values[self.columns[job, buckets[job], k, bucket]] += seconds / self.unit
        return values

    def _model_time(self, time: float) -> float:
        return (time - self.grid.times[0]) / self.unit

    def _job_rows(self, rows: _Rows, job: int) -> None:
        columns, window, modes = self.columns, self._windows[job], self._modes[job]
        rows.add(((columns[job, b], 1.0) for b in window), 1.0, 1.0)
        scale = self.unit / self.instance.work[job]
        for b in window:
            before = range(self.begin(job), b + 1)
            work = [(columns[job, b, k, c], mode.rate * scale) for k, mode in modes for c in before]
            rows.add([*work, (columns[job, b], -1.0)], 0.0, 0.0)
            for c in before:
                spent = [(columns[job, b, k, c], 1.0) for k, _ in modes]
                length = float(self.times[c + 1]) - self.begins(job, c)
                rows.add([*spent, (columns[job, b], -length)], upper=0.0)
        for k, _ in modes:
            for c in range(self.begin(job), (window[-1] + 1)):
                parts = [(columns[job, b, k, c], 1.0) for b in window if b >= c]
                rows.add([*parts, (columns[job, k, c], -1.0)], 0.0, 0.0)
        least = self._model_time(self.instance.earliest(job))
        starts = [(columns[job, b], -max(float(self.times[b]), least)) for b in window]
        rows.add([(columns[job,], 1.0), *starts], lower=0.0)
        own = [(columns[job, b, k, b], -1.0) for b in window for k, _ in modes]
        rows.add([(columns[job,], 1.0), *((columns[job, b], -self.begins(job, b)) for b in window), *own], 0.0)

    def _capacity_rows(self, rows: _Rows, bucket: int) -> None:
        there = [j for j, window in enumerate(self._windows) if self.begin(j) <= bucket < (window[-1] + 1)]
        length, gpus = float(self.lengths[bucket]), self.instance.gpus

        def held(size: int, *, least: int = 0) -> Iterator[tuple[int, float]]:
            for job in there:
                for k, mode in self._modes[job]:
                    if mode.gpus // size > least:
                        yield self.columns[job, k, bucket], float(mode.gpus // size)

        for prices in self.cuts:
            priced = [
                (self.columns[job, k, bucket], price) for (job, k), price in prices.items() if job in there
            ]
            rows.add(priced, upper=length)
        rows.add(held(1), upper=gpus * length)
        size = 2
        while size <= gpus:
            groups = list(held(size))
            rows.add(groups, upper=gpus // size * length)
            for job in there if gpus % size == 0 else ():
                parts = [
                    (self.columns[job, k, bucket], float(-(-mode.gpus // size) - mode.gpus // size))
                    for k, mode in self._modes[job]
                    if mode.gpus % size
                ]
                if parts:
                    rows.add(_merged(groups, parts), upper=gpus // size * length)
            size *= 2

    def _ordered_pairs(self) -> Iterator[tuple[int, int]]:
        """Give pairs of jobs of which the first finishes first in some best schedule."""
        for first in range(len(self.instance)):
            followers = [second for second in range(len(self.instance)) if self._precedes(first, second)]
            for second in followers:
                if not any(self._precedes(between, second) for between in followers if between != second):
                    yield first, second

    def _precedes(self, first: int, second: int) -> bool:
        """Tell whether exchanging the allocations of two jobs lets the first finish first.

        With proportional rates, let both keep their allocations until the second has done as much more than
        the first as it has more work, and swap them then: each finishes when the other did before.
        """
        instance = self.instance
        one, other = instance.modes[first], instance.modes[second]
        if first == second or [mode.gpus for mode in one] != [mode.gpus for mode in other]:
            return False
        shares = [mode.rate / instance.work[first] for mode in one]
        others = [mode.rate / instance.work[second] for mode in other]
        factor = shares[0] / others[0]
        if any(abs(a / b / factor - 1) > 1e-12 for a, b in zip(shares, others, strict=True)):  # noqa: PLR2004
            return False
        mine = (-factor, instance.release[first], instance.deadline[first])
        theirs = (-1.0, instance.release[second], instance.deadline[second])
        dominates = all(a <= b for a, b in zip(mine, theirs, strict=True))
        return dominates and (mine != theirs or first < second)

    def _order_rows(self, rows: _Rows, first: int, second: int) -> None:
        """Let the first job be complete by the end of every bucket by which the second is."""
        rows.add([(first, 1.0), (second, -1.0)], upper=_ROUNDING)
        for bucket in self._windows[second]:
            done = [(self.columns[second, b], 1.0) for b in self._windows[second] if b <= bucket]
            mine = [(self.columns[first, b], -1.0) for b in self._windows[first] if b <= bucket]
            rows.add([*done, *mine], upper=0.0)


def _merged(*lists: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Add up the coefficients of each column."""
    total: dict[int, float] = {}
    for entries in lists:
        for column, value in entries:
            total[column] = total.get(column, 0.0) + value
    return list(total.items())


def _pieces(plan: Plan, times: Sequence[float]) -> Iterator[tuple[int, int, int, float]]:
    """Cut the steps of a plan at the times of a grid: job, GPUs, bucket, seconds."""
    now, bucket = times[0], 0
    for step in plan.steps:
        left = step.duration
        while left > 0 and bucket < len(times) - 1:
            part = min(left, times[bucket + 1] - now)
            for job, gpus in step.gpus.items():
                yield job, gpus, bucket, part
            left -= part
            now += part
            if times[bucket + 1] - now <= _ROUNDING * times[-1]:
                bucket += 1
                now = times[bucket]
