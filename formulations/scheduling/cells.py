"""Cells: the positional model, built directly as arrays, with the same rows and columns as `milp`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from formulations.common.rows import Entry, SparseRows
from formulations.scheduling.groups import groups, taken
from formulations.scheduling.mixture import Item
from formulations.scheduling.positions import Positions
from formulations.scheduling.timetable import Timetable
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.tolerances import HIGHS_ROWS
from gsopt.solvers.standard_form import LARGEST_BIG_M, StandardForm

#: Maximum number of times to decide for which the model is built. There is one for each job, mode and cell.
MOST_TIMES = 12_000

Reals = NDArray[np.float64]

#: An epoch and a position.
Cell = tuple[int, int]


@dataclass(frozen=True)
class Cells:
    """The columns of the positional model: the positions that jobs may have, and the modes of each cell."""

    positions: Positions  # the windows and cells
    # share of each job's work that each of its modes does per unit of the model's time
    share: tuple[tuple[float, ...], ...]
    times: Mapping[Cell, Sequence[Item]]  # the jobs and modes that may run in each cell

    @classmethod
    def of(cls, positions: Positions) -> "Cells":
        """Build the cells, each with the jobs that have arrived and may still be incomplete.

        Raises `Unsupported` if there are too many times to decide, or if times differ too much in scale.
        """
        instance = positions.instance
        jobs = range(len(instance))
        last = [max((p for p in jobs if positions.allows(job, p)), default=-1) for job in jobs]
        share = tuple(
            tuple(mode.rate * positions.unit / instance.work[job] for mode in instance.modes[job])
            for job in jobs
        )
        times = {
            (epoch, position): [
                (job, mode)
                for job in jobs
                if instance.release[job] <= instance.arrivals[epoch] and last[job] >= position
                for mode in range(len(instance.modes[job]))
            ]
            for epoch, position in positions.cells
        }
        size = sum(map(len, times.values()))
        if size > MOST_TIMES:
            raise Unsupported(f"milp: {size:,} times to decide (job, mode and cell): at most {MOST_TIMES:,}")
        fastest = max(max(own) for own in share)
        if fastest > LARGEST_BIG_M:
            raise Unsupported(f"milp: the shortest job takes {1 / fastest / 1000:.0e} of the horizon: too fine")
        return cls(positions, share, times)

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Pairs of a job and a position at which it may complete, which index the columns z."""
        jobs = range(len(self.positions.instance))
        return tuple((j, p) for j, p in product(jobs, jobs) if self.positions.allows(j, p))

    @cached_property
    def epochs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of a position and an epoch in which its completion may fall, which index the columns v."""
        positions, count = self.positions, len(self.positions.instance)
        return tuple(
            (p, e) for p in range(count) for e in range(len(positions.epochs)) if positions.meets(e, p)
        )

    @property
    def largest(self) -> Reals:
        """The largest value of each column, in the order of `cell_form`."""
        positions = self.positions
        lengths = positions.cells
        return np.array(
            [
                *[1.0] * (len(self.places) + len(self.epochs)),
                *(high for _, high in positions.window),
                *lengths.values(),
                *(lengths[cell] for cell, items in self.times.items() for _ in items),
            ]
        )


def cell_form(cells: Cells, cuts: Sequence[Mapping[Item, float]] = ()) -> StandardForm:
    """Build the arrays, with a row for each cut in each cell in which any of its modes may run.

    A cut holds prices of modes. In its rows, the times of the modes, multiplied by their prices, add up to at
    most the length of the cell.
    """
    return _Filling(cells).form(cuts)


class _Filling:
    """The arrays of the positional model under construction."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.positions = cells, cells.positions
        self.instance = cells.positions.instance
        self.jobs = range(len(self.instance))
        self.names: dict[str, int] = {}
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.rows = SparseRows()
        self.z: list[list[Entry]] = [[] for _ in self.jobs]  # of each job: position, column
        self._add_columns()

    def form(self, cuts: Sequence[Mapping[Item, float]]) -> StandardForm:
        self._add_positions()
        self._add_cells()
        for cell, items in self.cells.times.items():
            if items:
                self._add_capacity(cell, items)
                self._add_cuts(cell, items, cuts)
        self._add_work()
        instance, count = self.instance, len(self.names)
        cost = np.zeros(count)
        cost[self._columns("T", self.jobs)] = self.positions.unit / len(instance)
        return StandardForm.build(
            cost=cost,
            matrix=self.rows.matrix(count),
            row_lower=self.rows.lower,
            row_upper=self.rows.upper,
            column_lower=self.lower,
            column_upper=self.upper,
            integer=np.array([name[0] in "zv" for name in self.names]),
            columns=tuple(self.names),
            rows=tuple(self.rows.names),
            offset=-instance.released / len(instance),
        )

    def _add_columns(self) -> None:
        positions = self.positions
        for job, place in self.cells.places:
            self._column(f"z[{job},{place}]", 0.0, 1.0)
        for place, epoch in self.cells.epochs:
            self._column(f"v[{place},{epoch}]", 0.0, 1.0)
        for place in self.jobs:
            self._column(f"T[{place}]", *positions.window[place])
        for (epoch, place), most in positions.cells.items():
            self._column(f"l[{epoch},{place}]", 0.0, most)
        for (epoch, place), items in self.cells.times.items():
            for job, mode in items:
                self._column(f"y[{job},{mode},{epoch},{place}]", 0.0, inf)

    def _column(self, name: str, lower: float, upper: float) -> None:
        self.names[name] = len(self.names)
        self.lower.append(lower)
        self.upper.append(upper)

    def _columns(self, letter: str, indices: Iterable[object]) -> list[int]:
        return [self.names[f"{letter}[{index}]"] for index in indices]

    def _placed(self, job: int, places: Iterable[int], value: float = 1.0) -> Iterator[Entry]:
        """Yield the z columns of a job for the given positions, skipping those that it cannot have."""
        for place in places:
            if (column := self.names.get(f"z[{job},{place}]")) is not None:
                yield column, value

    def _timed(self, place: int, epochs: Iterable[int], value: float = 1.0) -> Iterator[Entry]:
        """Yield the v columns of a position for the given epochs, skipping those that cannot contain it."""
        for epoch in epochs:
            if (column := self.names.get(f"v[{place},{epoch}]")) is not None:
                yield column, value

    def _add_positions(self) -> None:
        positions, jobs, add = self.positions, self.jobs, self.rows.add
        epochs = range(len(positions.epochs))
        for job in jobs:
            add(f"job[{job}]", self._placed(job, jobs), 1.0, 1.0)
        for p in jobs:
            add(f"position[{p}]", [e for job in jobs for e in self._placed(job, [p])], 1.0, 1.0)
            add(f"epoch[{p}]", self._timed(p, epochs), 1.0, 1.0)
            time = self.names[f"T[{p}]"]
            passed = self._columns("l", (f"{e},{q}" for e, q in positions.cells if q <= p))
            add(f"time[{p}]", [(time, 1.0), *((column, -1.0) for column in passed)], 0.0, 0.0)
            parts = {e: positions.part(e, p) for e in epochs}
            begins = [entry for e in epochs for entry in self._timed(p, [e], -parts[e][0])]
            ends = [entry for e in epochs for entry in self._timed(p, [e], -parts[e][1])]
            add(f"after[{p}]", [(time, 1.0), *begins], lower=0.0)
            add(f"before[{p}]", [(time, 1.0), *ends], upper=0.0)
            spans = [tuple(map(positions.time, span)) for span in positions.windows.spans]
            low = [entry for job in jobs for entry in self._placed(job, [p], -spans[job][0])]
            add(f"earliest[{p}]", [(time, 1.0), *low], lower=0.0)
            if all(isfinite(high) for _, high in spans):
                high = [entry for job in jobs for entry in self._placed(job, [p], -spans[job][1])]
                add(f"latest[{p}]", [(time, 1.0), *high], upper=0.0)
        for p, e in product(jobs[1:], epochs[:-1]):
            earlier, own = self._timed(p - 1, epochs[: e + 1]), self._timed(p, epochs[: e + 1], -1.0)
            add(f"succession[{p},{e}]", [*earlier, *own], lower=0.0)
        for (first, second), p in product(positions.windows.needed, jobs):
            done, begun = self._placed(second, jobs[: p + 1]), self._placed(first, jobs[:p], -1.0)
            add(f"order[{first},{second},{p}]", [*done, *begun], upper=0.0)
        if isfinite(positions.total):
            ends = [(column, 1.0) for column in self._columns("T", jobs)]
            add("limit", ends, upper=positions.time(positions.total))

    def _add_cells(self) -> None:
        positions, add = self.positions, self.rows.add
        epochs = range(len(positions.epochs))
        for e in epochs[:-1]:
            length = positions.epochs[e][1] - positions.epochs[e][0]
            own = self._columns("l", (f"{e},{p}" for f, p in positions.cells if f == e))
            add(f"length[{e}]", [(column, 1.0) for column in own], length, length)
        for (e, p), most in positions.cells.items():
            column = self.names[f"l[{e},{p}]"]
            if p > 0:
                opened = self._timed(p - 1, epochs[: e + 1], -most)
                add(f"opened[{e},{p}]", [(column, 1.0), *opened], upper=0.0)
            add(f"closed[{e},{p}]", [(column, 1.0), *self._timed(p, epochs[e:], -most)], upper=0.0)

    def _add_capacity(self, cell: Cell, items: Sequence[Item]) -> None:
        instance, add, where = self.instance, self.rows.add, f"{cell[0]},{cell[1]}"
        length = self.names[f"l[{where}]"]
        held = [(j, instance.modes[j][k].gpus, self.names[f"y[{j},{k},{where}]"]) for j, k in items]
        for job in sorted({job for job, _ in items}):
            own = [(column, 1.0) for j, _, column in held if j == job]
            add(f"alone[{job},{where}]", [*own, (length, -1.0)], upper=0.0)
        area = [(column, float(gpus)) for _, gpus, column in held]
        add(f"area[{where}]", [*area, (length, -float(instance.gpus))], upper=0.0)
        for size, i in groups(instance, items):
            divides = instance.gpus % size == 0
            used = [(column, float(taken(gpus, size, whole=j == i and divides))) for j, gpus, column in held]
            there = (length, -float(instance.gpus // size))
            add(f"groups[{size},{i},{where}]", [*(entry for entry in used if entry[1]), there], upper=0.0)

    def _add_cuts(self, cell: Cell, items: Sequence[Item], cuts: Sequence[Mapping[Item, float]]) -> None:
        where = f"{cell[0]},{cell[1]}"
        for number, cut in enumerate(cuts):
            priced = [(self.names[f"y[{j},{k},{where}]"], cut[j, k]) for j, k in items if cut.get((j, k))]
            if priced:
                length = self.names[f"l[{where}]"]
                self.rows.add(f"mixture[{number},{where}]", [*priced, (length, -1.0)], upper=0.0)

    def _add_work(self) -> None:
        jobs, add, share = self.jobs, self.rows.add, self.cells.share
        done: dict[tuple[int, int], list[Entry]] = {pair: [] for pair in product(jobs, jobs)}
        for (e, p), items in self.cells.times.items():
            for j, k in items:
                done[j, p].append((self.names[f"y[{j},{k},{e},{p}]"], share[j][k]))
        for j in jobs:
            add(f"work[{j}]", [entry for p in jobs for entry in done[j, p]], 1.0, 1.0)
            for p in jobs[1:]:
                add(f"until[{j},{p}]", [*done[j, p], *self._placed(j, jobs[p:], -1.0)], upper=0.0)
            for p in jobs[:-1]:
                so_far = [entry for q in jobs[: p + 1] for entry in done[j, q]]
                add(f"enough[{j},{p}]", [*so_far, *self._placed(j, jobs[: p + 1], -1.0)], lower=0.0)


def encode(positions: Positions, timetable: Timetable) -> dict[str, float]:
    """Return the non-zero column values of a schedule, keyed by column name."""
    ends = [positions.time(time) for time in timetable.completions]
    order = _consistent(positions, ends)
    times = [ends[job] for job in order]
    values: dict[str, float] = {}
    cells: list[tuple[int, int, float, float]] = []
    for position, (job, time) in enumerate(zip(order, times, strict=True)):
        epoch = max((e for e, (begin, _) in enumerate(positions.epochs) if begin < time), default=0)
        values |= {f"z[{job},{position}]": 1.0, f"v[{position},{epoch}]": 1.0, f"T[{position}]": time}
        since = times[position - 1] if position else 0.0
        parts = [(e, max(begin, since), min(end, time)) for e, (begin, end) in enumerate(positions.epochs)]
        cells += [(e, position, begin, end) for e, begin, end in parts if begin < end]
    values |= {f"l[{epoch},{position}]": end - begin for epoch, position, begin, end in cells}
    modes = [{mode.gpus: k for k, mode in enumerate(modes)} for modes in positions.instance.modes]
    for job, start, end, gpus in timetable.pieces:
        first, last = positions.time(start), positions.time(end)
        for epoch, position, begin, until in cells:
            part = min(until, last) - max(begin, first)
            if part > 0:
                name = f"y[{job},{modes[job][gpus]},{epoch},{position}]"
                values[name] = values.get(name, 0.0) + part
    return values


def _consistent(positions: Positions, ends: Sequence[float]) -> list[int]:
    """Return the jobs in order of completion, with ties going to jobs that must complete first."""
    earlier = positions.windows.before.sum(axis=0)
    ticks = [round(end / HIGHS_ROWS) for end in ends]
    return sorted(range(len(ends)), key=lambda job: (ticks[job], earlier[job]))
