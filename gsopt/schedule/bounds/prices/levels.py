"""Levels: the maximization of a concave function by steps that aim slightly above its best value."""

import numpy as np

from gsopt.schedule.bounds.prices.demand import Array
from gsopt.schedule.bounds.prices.quasi_newton import Function

#: The rise that steps aim at first, as a fraction of the function's value.
_FIRST_RISE = 0.003

#: Number of steps that may fail in a row, and the factor by which steps then aim lower. A step fails unless it
#: brings this part of the rise that it aims at.
_PATIENCE, _LOWER, _WORTH = 40, 0.7, 0.01

#: Weight of the previous direction in the next one.
_DEFLECTION = 0.7


def climb_levels(function: Function, point: Array) -> None:
    """Climb a concave function of many nonnegative variables, with most of its kinks near its highest point.

    The function should remember its best point itself, and raise an exception to stop the climb.

    Each step is so long that the function would reach a level slightly above its best value if it rose along
    its slope without a bend. Each direction is deflected towards the previous one. If many steps in a row fail,
    the level is lowered, and the climb continues from the best point. See J.-L. Goffin and K. C. Kiwiel,
    "Convergence of a simple subgradient level method", 1999.

    Parameters
    ----------
    function
        The function, which returns its value and its slope at a point.
    point
        The starting point, whose coordinates should be of similar size.
    """
    value, slope = function(point)
    best, kept, rise, failed = (value, slope), point, _FIRST_RISE, 0
    direction = np.zeros(len(point))
    while True:
        direction = slope + _DEFLECTION * direction
        direction[(point <= 0) & (direction < 0)] = 0.0
        steep = float(direction @ direction)
        if steep <= 0:
            return
        level = best[0] + rise * abs(best[0])
        point = np.maximum(point + (level - value) / steep * direction, 0.0)
        value, slope = function(point)
        failed = 0 if value > best[0] + _WORTH * rise * abs(best[0]) else failed + 1
        if value > best[0]:
            best, kept = (value, slope), point
        if failed > _PATIENCE:
            (value, slope), point = best, kept
            direction, rise, failed = np.zeros(len(point)), _LOWER * rise, 0
