"""Program: an integer program over the remaining options; its subclasses model the nodes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from formulations.goodput.case import GoodputCase, GoodputOption, Vector
from formulations.goodput.rows import Key, KeyedRows
from gsopt.core.numbers.tolerances import SPEEDUP
from gsopt.solvers.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class OptionProgram(ABC):
    """The remaining options of each job, as an integer program.

    Its first columns are `runs` of each job and option, exactly one of which is 1 (row `one`). Only these
    columns have costs. The rows `fewest` and `most` limit the number of nodes of spread jobs. Subclasses model
    the GPUs of these jobs on each node, and everything else that a node holds.
    """

    case: GoodputCase  # the problem
    alive: Sequence[
        Sequence[GoodputOption]
    ]  # options of each job that are left; there is a solution with these

    @cached_property
    def base(self) -> list[float]:
        """The least cost of each job, which every solution pays."""
        return [min(option.cost for option in options) for options in self.alive]

    @property
    def paid(self) -> Fraction:
        """The total of the least costs, which every solution pays."""
        return sum(map(Fraction, self.base), Fraction(0))

    def costs(self, least: float) -> list[Fraction]:
        """Return the costs beyond `paid`, rounded down to a step negligible for totals of `least` or more."""
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
        return self.rows.form()

    @cached_property
    def rows(self) -> KeyedRows:
        """The model's columns and rows by key."""
        rows = KeyedRows()
        for job, options in enumerate(self.alive):
            for place in range(len(options)):
                rows.column(("runs", job, place), 1)
                rows.add(("one", job), ("runs", job, place), 1, 1, 1)
        self._place(rows)
        for job, options in enumerate(self.alive):
            for place, option in enumerate(options):
                if option.is_spread:
                    rows.add(("fewest", job), ("runs", job, place), -option.least, 0, np.inf)
                    rows.add(("most", job), ("runs", job, place), -option.most, -np.inf, 0)
        return rows

    @abstractmethod
    def _place(self, rows: KeyedRows) -> None:
        """Add columns and rows for the nodes."""

    def _part(self, rows: KeyedRows, job: int, part: Key) -> None:
        """Count a part of a spread job among its nodes."""
        rows.add(("fewest", job), part, 1, 0, np.inf)
        rows.add(("most", job), part, 1, -np.inf, 0)

    @cached_property
    def sizes(self) -> list[int]:
        """Numbers of GPUs that jobs may have on any one node, ascending."""
        return sorted({option.gpus for options in self.alive for option in options if option.is_single})

    @cached_property
    def spread(self) -> list[int]:
        """Jobs that may spread over several nodes."""
        return [job for job, options in enumerate(self.alive) if any(each.is_spread for each in options)]

    def read(self, values: NDArray[np.float64]) -> dict[Key, int]:
        """Return the values of a point, keyed by the columns' keys."""
        return {key: round(value) for key, value in zip(self.rows.columns, values.tolist(), strict=True)}

    def chosen(self, found: Mapping[Key, int]) -> list[GoodputOption]:
        """Return the option that a point chooses for each job."""
        return [
            next(each for place, each in enumerate(options) if found["runs", job, place])
            for job, options in enumerate(self.alive)
        ]

    @abstractmethod
    def vectors(self, values: NDArray[np.float64]) -> list[Vector]:
        """Read the GPUs of each job on every node from the values of the columns."""

    @abstractmethod
    def point(self, chosen: Sequence[GoodputOption], vectors: Iterable[Vector]) -> NDArray[np.float64]:
        """Return the column values for the given options, which must be remaining ones, and for their GPUs."""
