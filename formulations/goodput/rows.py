"""Rows: an integer program that is built column by column and row by row."""

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from gsopt.solvers.standard_form import StandardForm

#: The key of a row or a column: its kind and its indices.
Key = tuple[str, int] | tuple[str, int, int]


@dataclass
class KeyedRows:
    """Columns and rows, keyed by kind and indices. All columns are non-negative integers."""

    columns: dict[Key, int] = field(default_factory=dict)  # upper limit of each
    limits: dict[Key, tuple[float, float]] = field(default_factory=dict)  # lower and upper limit of each row
    entries: list[tuple[Key, Key, float]] = field(default_factory=list)  # row, column and factor

    def column(self, key: Key, most: int) -> None:
        """Add an integer column with values from 0 to `most`."""
        self.columns[key] = most

    def add(self, row: Key, column: Key, factor: float, lower: float, upper: float) -> None:
        """Add a column's coefficient to a row, and set the row's limits."""
        self.limits[row] = (lower, upper)
        self.entries.append((row, column, factor))

    def form(self) -> StandardForm:
        """Return the model as arrays, without costs."""
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


def _named(key: Key) -> str:
    return f"{key[0]}[{','.join(map(str, key[1:]))}]"
