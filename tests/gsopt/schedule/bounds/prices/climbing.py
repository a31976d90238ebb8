"""The highest value that a climb reaches with a limited number of evaluations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gsopt.schedule.bounds.prices.demand import Array
from gsopt.schedule.bounds.prices.quasi_newton import Function


class _Full(Exception):
    """The evaluations are made."""


def top(
    climb: Callable[..., None], function: Function, start: Array, evaluations: int, **options: Any
) -> float:
    """Climb from the start, and return the highest value of the function that was seen."""
    seen: list[float] = []

    def counted(point: Array) -> tuple[float, Array]:
        if len(seen) == evaluations:
            raise _Full
        assert np.all(point >= 0)
        value, slope = function(point)
        seen.append(value)
        return value, slope

    try:
        climb(counted, start, **options)
    except _Full:
        assert len(seen) == evaluations
    return max(seen)
