"""The highest value that a climb reaches with a limited number of evaluations."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linprog

from gsopt.schedule.bounds.prices.demand import Array
from gsopt.schedule.bounds.prices.quasi_newton import Function
from tests.unwrap import unwrap


def planes(seed: int, heights: tuple[float, float]) -> tuple[Function, float]:
    """Return the lowest of 40 planes over six coordinates, and its top over nonnegative points."""
    random = np.random.default_rng(seed)
    slopes, own = random.normal(size=(40, 6)), random.uniform(*heights, size=40)
    slopes[:6] = -np.eye(6)  # so that there is a top

    def function(point: Array) -> tuple[float, Array]:
        values = slopes @ point + own
        return float(values.min()), slopes[values.argmin()]

    rows = np.hstack([-slopes, np.ones((40, 1))])
    limits = [(0, None)] * 6 + [(None, None)]
    highest = linprog([0] * 6 + [-1], A_ub=rows, b_ub=own, bounds=limits).fun
    return function, -float(unwrap(highest))


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
