"""Reduced: the integer program of the options that are left, jobs on one node by their size only."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from formulations.goodput.case import Case, Option, Vector
from gsopt.standard_form import StandardForm
from gsopt.tolerances import SPEEDUP


@dataclass(frozen=True, eq=False)
class Reduced:
    """The options of each job that are left, as an integer program.

    Jobs on one node that have as many GPUs are interchangeable in space, so a node holds a number of jobs of
    each size. Jobs on several nodes have their GPUs on each, and those that keep theirs are as they are.

    Columns: `runs` of each job and option, of which one is 1; `holds`, jobs of each size on each node; `parts`
    and `gpus`, whether a node holds a part of a job on several and how many GPUs of it. Rows: `one` option of
    each job; `sized`, jobs of each size are on some node; `fewest`, `most` and `all`, nodes and GPUs of a job
    on several; `filled` and `empty`, a part has a GPU and no others have; `room` and `wide`, a node has so many
    GPUs, and one part.

    Attributes
    ----------
    case
        The problem.
    alive
        Options of each job that are left; there is a solution with these.
    """

    case: Case
    alive: Sequence[Sequence[Option]]

    @cached_property
    def base(self) -> list[float]:
        """Least cost of each job, which every solution pays."""
        return [min(option.cost for option in options) for options in self.alive]

    @property
    def paid(self) -> Fraction:
        """What every solution pays."""
        return sum(map(Fraction, self.base), Fraction(0))

    def costs(self, least: float) -> list[Fraction]:
        """Give what columns cost beyond that, rounded down: by no difference, if jobs cost at least so much."""
        grid = Fraction(max(least, min(self.base))) * Fraction(SPEEDUP) / (8 * len(self.alive))
        beyond = [
            (Fraction(option.cost) - Fraction(paid)) // grid * grid
            for options, paid in zip(self.alive, self.base, strict=True)
            for option in options
        ]
        return [*beyond, *[Fraction(0)] * (len(self.form.columns) - len(beyond))]

    @cached_property
    def form(self) -> StandardForm:
        """The model as arrays, without costs."""
        return self._rows.form()

    @cached_property
    def _rows(self) -> "_Rows":
        nodes = range(len(self.case.problem.nodes))
        rows = _Rows()
        for job, options in enumerate(self.alive):
            for place, option in enumerate(options):
                rows.column(("runs", job, place), 1)
                rows.add(("one", job), ("runs", job, place), 1, 1, 1)
                self._use(rows, job, option, ("runs", job, place))
        for size in sorted({option.gpus for options in self.alive for option in options if _is_single(option)}):
            for node in nodes:
                if self.case.problem.nodes[node] >= size:
                    rows.column(("holds", size, node), self.case.problem.nodes[node] // size)
                    rows.add(("sized", size), ("holds", size, node), 1, 0, 0)
                    self._room(rows, node, ("holds", size, node), size)
        for job in self._spread:
            for node in nodes:
                self._part(rows, job, node)
        return rows

    @cached_property
    def _spread(self) -> list[int]:
        return [job for job, options in enumerate(self.alive) if any(map(_is_spread, options))]

    def _use(self, rows: "_Rows", job: int, option: Option, column: "_Key") -> None:
        """Say of an option's column what it takes."""
        if option.keeps:
            for node, count in enumerate(self.case.problem.currents[job]):
                if count:
                    self._room(rows, node, column, count)
                    if option.is_wide:
                        rows.add(("wide", node), column, 1, -np.inf, 1)
        elif _is_single(option):
            rows.add(("sized", option.gpus), column, -1, 0, 0)
        elif option.is_wide:
            rows.add(("fewest", job), column, -option.least, 0, np.inf)
            rows.add(("most", job), column, -option.most, -np.inf, 0)
            rows.add(("all", job), column, -option.gpus, 0, 0)

    def _part(self, rows: "_Rows", job: int, node: int) -> None:
        gpus = self.case.problem.nodes[node]
        part, count = ("parts", job, node), ("gpus", job, node)
        rows.column(part, 1)
        rows.column(count, gpus)
        rows.add(("fewest", job), part, 1, 0, np.inf)
        rows.add(("most", job), part, 1, -np.inf, 0)
        rows.add(("all", job), count, 1, 0, 0)
        rows.add(("filled", job, node), count, 1, 0, np.inf)
        rows.add(("filled", job, node), part, -1, 0, np.inf)
        rows.add(("empty", job, node), count, 1, -np.inf, 0)
        rows.add(("empty", job, node), part, -gpus, -np.inf, 0)
        rows.add(("wide", node), part, 1, -np.inf, 1)
        self._room(rows, node, count, 1)

    def _room(self, rows: "_Rows", node: int, column: "_Key", gpus: int) -> None:
        rows.add(("room", node), column, gpus, -np.inf, self.case.problem.nodes[node])

    def vectors(self, values: NDArray[np.float64]) -> list[Vector]:
        """Read the GPUs of each job on every node from the values of the columns."""
        found = {key: round(value) for key, value in zip(self._rows.columns, values.tolist(), strict=True)}
        nodes = range(len(self.case.problem.nodes))
        homes = _homes(found)
        vectors: list[Vector] = []
        for job, options in enumerate(self.alive):
            option = next(each for place, each in enumerate(options) if found["runs", job, place])
            if option.keeps:
                vectors.append(self.case.problem.currents[job])
            elif _is_single(option):
                home = homes[option.gpus].pop()
                vectors.append(tuple(option.gpus if node == home else 0 for node in nodes))
            else:
                vectors.append(tuple(found.get(("gpus", job, node), 0) for node in nodes))
        return vectors

    def point(self, chosen: Sequence[Option], vectors: Iterable[Vector]) -> NDArray[np.float64]:
        """Give options of jobs, of those that are left, and where they stand as values of the columns."""
        found: dict[_Key, float] = {}
        for job, (option, vector) in enumerate(zip(chosen, vectors, strict=True)):
            found["runs", job, self.alive[job].index(option)] = 1
            for node, count in enumerate(vector):
                if count and _is_single(option):
                    found["holds", count, node] = found.get(("holds", count, node), 0) + 1
                elif count and not option.keeps:
                    found["parts", job, node], found["gpus", job, node] = 1, count
        return np.array([found.get(key, 0.0) for key in self._rows.columns])


#: A row or a column: its kind, and of what.
_Key = tuple[str, int] | tuple[str, int, int]


@dataclass
class _Rows:
    """Columns and rows by their keys, as they are written down."""

    columns: dict[_Key, int] = field(default_factory=dict)  # most of each
    limits: dict[_Key, tuple[float, float]] = field(default_factory=dict)
    entries: list[tuple[_Key, _Key, float]] = field(default_factory=list)

    def column(self, key: _Key, most: int) -> None:
        self.columns[key] = most

    def add(self, row: _Key, column: _Key, factor: float, lower: float, upper: float) -> None:
        self.limits[row] = (lower, upper)
        self.entries.append((row, column, factor))

    def form(self) -> StandardForm:
        across = {key: number for number, key in enumerate(self.columns)}
        down = {key: number for number, key in enumerate(self.limits)}
        places = ([down[row] for row, _, _ in self.entries], [across[column] for _, column, _ in self.entries])
        factors = [factor for _, _, factor in self.entries]
        return StandardForm.build(
            cost=np.zeros(len(across)),
            matrix=csr_array((factors, places), shape=(len(down), len(across))),
            row_lower=[lower for lower, _ in self.limits.values()],
            row_upper=[upper for _, upper in self.limits.values()],
            column_upper=list(self.columns.values()),
            columns=tuple(map(_named, across)),
            rows=tuple(map(_named, down)),
        )


def _named(key: _Key) -> str:
    return f"{key[0]}[{','.join(map(str, key[1:]))}]"


def _is_single(option: Option) -> bool:
    return option.least == 1 and not option.keeps


def _is_spread(option: Option) -> bool:
    return option.is_wide and not option.keeps


def _homes(found: Mapping[_Key, int]) -> dict[int, list[int]]:
    """Give the nodes on which jobs of each size stand, a node for each job."""
    homes: dict[int, list[int]] = {}
    for (kind, size, *node), count in found.items():
        if kind == "holds":
            homes.setdefault(size, []).extend(node * count)
    return homes
