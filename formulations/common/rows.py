"""Rows: a sparse matrix that is built row by row."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Any

from scipy.sparse import coo_array

#: A column (by index) and its coefficient.
Entry = tuple[int, float]


@dataclass
class SparseRows:
    """The rows of a sparse matrix, with their names and limits."""

    names: list[str] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    _rows: list[int] = field(default_factory=list)
    _columns: list[int] = field(default_factory=list)
    _values: list[float] = field(default_factory=list)

    def add(self, name: str, entries: Iterable[Entry], lower: float = -inf, upper: float = inf) -> None:
        """Add a row. If a column occurs several times, its coefficients are added up."""
        row = len(self.names)
        for column, value in entries:
            self._rows.append(row)
            self._columns.append(column)
            self._values.append(value)
        self.names.append(name)
        self.lower.append(lower)
        self.upper.append(upper)

    def matrix(self, columns: int) -> Any:
        """Return the coefficients as a sparse matrix, shape (rows, columns)."""
        return coo_array((self._values, (self._rows, self._columns)), shape=(len(self.names), columns))
