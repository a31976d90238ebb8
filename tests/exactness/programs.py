"""Programs: linear programs in whole numbers, by the dual simplex method, which no rounding touches."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

#: Pivots after which the first row that is broken is chosen, by which the method must end.
_PATIENCE = 60


def least(
    cost: Sequence[Fraction | int],
    rows: Sequence[Sequence[Fraction | int]],
    limits: Sequence[Fraction | int],
    *,
    below: Fraction | int | None = None,
) -> Fraction | None:
    """Minimise cost x for x >= 0 and rows x >= limits, with a cost of at least 0.

    Gives None when there is no x, or none of a cost below a number.

    Examples
    --------
    >>> least([1, 1], [[2, 1], [0, 3]], [3, 1])
    Fraction(5, 3)
    """
    table: Any = np.array(
        [_whole([*row, -limit]) for row, limit in zip(rows, limits, strict=True)], dtype=object
    )
    price: Any = np.array([Fraction(each) for each in [*cost, 0]], dtype=object)
    scale = lcm(*(each.denominator for each in price))
    price = np.array([int(each * scale) for each in price], dtype=object)
    if not len(rows):
        return Fraction(0)
    width = len(cost)
    inside, outside = [width + row for row in range(len(rows))], list(range(width))
    above = 1  # the common denominator
    turns = 0
    while (table[:, -1] < 0).any():
        if below is not None and Fraction(price[-1], above * scale) >= below:
            return None
        broken = np.flatnonzero(table[:, -1] < 0)
        turns += 1
        row = int(min(broken, key=lambda place: table[place, -1] if turns < _PATIENCE else inside[place]))
        ready = [place for place in range(width) if table[row, place] > 0]
        if not ready:
            return None
        column = min(ready, key=lambda place: (Fraction(price[place], table[row, place]), outside[place]))
        pivot, chosen = table[row, column], table[row].copy()
        gone, paid = table[:, column].copy(), price[column]
        table = (table * pivot - np.outer(gone, chosen)) // above
        price = (price * pivot - paid * chosen) // above
        table[:, column], price[column] = gone, paid
        table[row] = -chosen
        table[row, column] = above
        above = pivot
        inside[row], outside[column] = outside[column], inside[row]
    return Fraction(price[-1], above * scale)


def _whole(values: Sequence[Fraction | int]) -> list[int]:
    exact = [Fraction(value) for value in values]
    scale = lcm(*(value.denominator for value in exact))
    return [int(value * scale) for value in exact]
