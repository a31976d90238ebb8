"""Program: an integer program over the remaining options. Subclasses model the nodes."""

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
    """An integer program over the options of each job that the knapsack (`Counting`) does not rule out.

    Its first columns are `runs`, one for each job and option. Exactly one of the columns of a job is 1 (row
    `one`). Only these columns have costs. A spread job runs on several nodes that are still to be chosen. The
    rows `fewest` and `most` limit the number of these nodes. Subclasses model the GPUs of spread jobs on each
    node, and everything else on the nodes.
    """

    case: GoodputCase  # the problem
    alive: Sequence[Sequence[GoodputOption]]  # remaining options of each job, with which there is a solution

    @cached_property
    def base(self) -> list[float]:
        """The minimum cost of each job over its remaining options."""
        return [min(option.cost for option in options) for options in self.alive]

    @property
    def paid(self) -> Fraction:
        """The sum of the jobs' minimum costs over their remaining options."""
        return sum(map(Fraction, self.base), Fraction(0))

    def costs(self, least: float) -> list[Fraction]:
        """Return the costs of the columns in excess of each job's `base`, rounded down to a step.

        The step is negligible for total costs of at least `least`.
        """
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
        """The model's columns and rows, by key."""
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
        """Add the columns and rows that model the nodes."""

    def _part(self, rows: KeyedRows, job: int, part: Key) -> None:
        """Count a part of a spread job towards its number of nodes."""
        rows.add(("fewest", job), part, 1, 0, np.inf)
        rows.add(("most", job), part, 1, -np.inf, 0)

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of GPUs that jobs may have on a single node still to be chosen, in ascending order."""
        return sorted({option.gpus for options in self.alive for option in options if option.is_single})

    @cached_property
    def spread(self) -> list[int]:
        """The indices of the jobs that may spread over several nodes."""
        return [job for job, options in enumerate(self.alive) if any(each.is_spread for each in options)]

    def read(self, values: NDArray[np.float64]) -> dict[Key, int]:
        """Return the column values, rounded to integers, by key."""
        return {key: round(value) for key, value in zip(self.rows.columns, values.tolist(), strict=True)}

    def chosen(self, found: Mapping[Key, int]) -> list[GoodputOption]:
        """Return each job's option according to the given column values."""
        return [
            next(each for place, each in enumerate(options) if found["runs", job, place])
            for job, options in enumerate(self.alive)
        ]

    @abstractmethod
    def vectors(self, values: NDArray[np.float64]) -> list[Vector]:
        """Read the GPUs of each job on every node from the column values."""

    @abstractmethod
    def point(self, chosen: Sequence[GoodputOption], vectors: Iterable[Vector]) -> NDArray[np.float64]:
        """Return the column values for the given options and their GPUs.

        All of the options must be among the remaining ones.
        """
