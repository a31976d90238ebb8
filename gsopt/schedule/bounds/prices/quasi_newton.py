"""Quasi-Newton: the maximization of a concave function over nonnegative points, from values and slopes."""

from collections import deque
from collections.abc import Callable

import numpy as np

from gsopt.core.numbers.tolerances import CURVATURE, SHORTEST_STEP
from gsopt.schedule.bounds.prices.demand import Array

#: Number of steps whose curvature is remembered.
_REMEMBERED = 20

#: Fraction of the rise promised by the slope that a step must achieve, and fraction of the slope that may
#: remain: the Armijo and Wolfe constants that are usual for quasi-Newton methods. They guide the choice of
#: steps and are not tolerances.
_RISE, _STEEP = 1e-4, 0.9

#: Number of step lengths that are tried before the remembered curvature is discarded.
_TRIALS = 12

#: Factor by which the first step shrinks when even the steepest ascent brings no gain.
_SHORTER = 0.01

Function = Callable[[Array], tuple[float, Array]]


def climb(function: Function, point: Array) -> None:
    """Climb a concave function over nonnegative points until no step increases its value.

    The function should remember its best point itself. It may raise an exception to stop the climb.

    The inverse curvature is estimated from the most recent steps (L-BFGS) on the coordinates that are not
    held at 0, and points are projected onto the nonnegative ones. Step lengths are bisected until the value
    rises and the slope falls, which works even at kinks of the function: see A. S. Lewis and M. L. Overton,
    "Nonsmooth optimization via quasi-Newton methods", 2013. At a kink where no step increases the value, the
    climb restarts with shorter first steps.

    Parameters
    ----------
    function
        The function, which returns its value and its slope at a point.
    point
        The starting point, whose coordinates should be of similar size.
    """
    memory: deque[tuple[Array, Array]] = deque(maxlen=_REMEMBERED)
    value, slope = function(point)
    length = 1.0
    while length >= SHORTEST_STEP:
        free = (point > 0) | (slope > 0)
        direction = _direction(np.where(free, slope, 0.0), free, memory, length)
        promised = float(slope @ direction)
        found = _search(function, point, value, slope, direction) if promised > 0 else None
        if found is not None:
            step, fall = found[0] - point, slope - found[2]
            if float(step @ fall) > CURVATURE * float(np.linalg.norm(step) * np.linalg.norm(fall)):
                memory.append((step, fall))
            point, value, slope = found
        elif memory:
            memory.clear()
        else:
            length *= _SHORTER


def _direction(slope: Array, free: Array, memory: deque[tuple[Array, Array]], length: float) -> Array:
    """Return the direction of ascent on the free coordinates, from the slope and the remembered curvature."""
    pairs = [(np.where(free, step, 0.0), np.where(free, fall, 0.0)) for step, fall in memory]
    curved = [(step, fall, float(step @ fall)) for step, fall in pairs if float(step @ fall) > 0]
    parts = []
    for step, fall, product in reversed(curved):
        part = float(step @ slope) / product
        parts.append(part)
        slope = slope - part * fall
    if curved:
        _, fall, product = curved[-1]
        slope = slope * (product / float(fall @ fall))
    else:
        slope = slope * (length / max(float(np.linalg.norm(slope)), np.finfo(float).tiny))
    for (step, fall, product), part in zip(curved, reversed(parts), strict=True):
        slope = slope + (part - float(fall @ slope) / product) * step
    found: Array = np.where(free, slope, 0.0)
    return found


def _search(
    function: Function, point: Array, value: float, slope: Array, direction: Array
) -> tuple[Array, float, Array] | None:
    """Return a step along a direction that increases the value, or None if no such step is found."""
    low, high, length = 0.0, np.inf, 1.0
    best: tuple[Array, float, Array] | None = None
    for _ in range(_TRIALS):
        trial = np.maximum(point + length * direction, 0.0)
        found, after = function(trial)
        if found > (value if best is None else best[1]):
            best = trial, found, after
        if found < value + _RISE * float(slope @ (trial - point)):
            high = length
        elif float(after @ direction) > _STEEP * float(slope @ direction):
            low = length
        else:
            return trial, found, after
        length = (low + high) / 2 if high < np.inf else 2 * length
    return best
