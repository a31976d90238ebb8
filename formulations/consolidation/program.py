"""Program: an integer program with exact costs that is built column by column and row by row."""

from collections.abc import Iterable
from math import inf

import numpy as np
from scipy.sparse import coo_array

from gsopt.core.numbers.grid import Exact
from gsopt.core.problem import Sense
from gsopt.solvers.standard_form import StandardForm


class NamedProgram:
    """The arrays of a maximization model, with named columns and rows."""

    def __init__(self) -> None:
        self.costs: dict[str, Exact] = {}
        self._upper: list[float] = []
        self._place: dict[str, int] = {}
        self._rows: list[tuple[str, float, float]] = []
        self._entries: list[tuple[int, int, float]] = []

    def column(self, name: str, *, cost: Exact = 0, upper: float = inf) -> None:
        """Add a column for a non-negative integer variable."""
        self._place[name] = len(self.costs)
        self.costs[name] = cost
        self._upper.append(upper)

    def row(
        self, name: str, entries: Iterable[tuple[str, float]], *, lower: float = -inf, upper: float = inf
    ) -> None:
        """Add a row that limits a sum of columns, each of which is given with its coefficient."""
        number = len(self._rows)
        self._rows.append((name, lower, upper))
        self._entries += [(number, self._place[column], entry) for column, entry in entries]

    def form(self, offset: Exact = 0) -> StandardForm:
        """Return the arrays in standard form."""
        row, column, entry = np.array(self._entries, dtype=np.float64).reshape(-1, 3).T
        places = (row.astype(np.int64), column.astype(np.int64))
        names, lower, upper = zip(*self._rows, strict=True) if self._rows else ((), (), ())
        return StandardForm.build(
            cost=[float(cost) for cost in self.costs.values()],
            matrix=coo_array((entry, places), shape=(len(self._rows), len(self.costs))),
            row_lower=lower,
            row_upper=upper,
            column_upper=self._upper,
            columns=tuple(self.costs),
            rows=names,
            sense=Sense.MAXIMIZE,
            offset=float(offset),
        )
