"""Bundle: the maximization of a concave function with many kinks over nonnegative points."""

import numpy as np

from gsopt.core.numbers.tolerances import LAST_POINT, NEXT_POINT, SHORTEST_STEP
from gsopt.schedule.bounds.prices.demand import Array
from gsopt.schedule.bounds.prices.quasi_newton import Function

#: Largest number of planes that are kept.
_PLANES = 60

#: Fractions of the promised rise from which on a point becomes the center, and a longer reach pays off.
_RISE, _GOOD = 0.1, 0.5

#: Factor by which the reach grows or shrinks, and number of failures in a row after which it may shrink.
_LONGER, _FAILURES = 2.0, 4

#: Factor by which the reach shrinks if no rise is promised, and the largest number of times.
_SHORTER, _SHORTENED = 8.0, 8

#: Number of times that the coordinates which become 0 are chosen anew.
_CHOICES = 5

#: Length of the first step, as a part of the length of the starting point.
_FIRST_REACH = 0.1

#: Largest number of exchanges of weights between two planes in the search for the next point.
_EXCHANGES = 100


def climb_kinks(function: Function, point: Array, *, compiled: bool) -> None:
    """Climb a concave function with many kinks until no rise is in sight.

    The function should remember its best point itself. It may raise an exception to stop the climb.

    This is a proximal bundle method, with a center that is at first the starting point. Each evaluation gives a
    plane above the function. The next point is the highest one below all planes, with a penalty on the squared
    distance from the center. If the function rises enough there, this point becomes the center. See J. B.
    Hiriart-Urruty and C. Lemarechal, "Convex analysis and minimization algorithms II", 1993, chapter XV.

    Parameters
    ----------
    function
        The function, which returns its value and its slope at a point.
    point
        The starting point, whose coordinates should be of similar size.
    compiled
        Whether to use a compiled kernel.
    """
    value, slope = function(point)
    planes = _Planes(slope, compiled=compiled)
    reach = _FIRST_REACH * float(np.linalg.norm(point)) or 1.0
    length = reach / max(float(np.linalg.norm(slope)), np.finfo(float).tiny)
    failed = 0
    while True:
        after, rise = planes.promise(point, length, NEXT_POINT)
        for _ in range(_SHORTENED):  # within a shorter reach, fewer coordinates become 0
            if rise > SHORTEST_STEP * abs(value):
                break
            length /= _SHORTER
            after, rise = planes.promise(point, length, LAST_POINT)
        else:
            return
        found, slope = function(after)
        gained, above = found - value, max(found + float(slope @ (point - after)) - value, 0.0)
        if gained >= _RISE * rise:
            planes.excess = np.maximum(planes.excess + planes.slopes @ (after - point) - gained, 0.0)
            planes.add(slope, 0.0)
            point, value = after, found
            length *= _LONGER if gained >= _GOOD * rise else 1.0
            failed = 0
        else:
            planes.add(slope, above)
            failed += 1
            if failed >= _FAILURES and above > rise:
                length, failed = length / _LONGER, 0


class _Planes:
    """Planes above a function, each with a slope and its height above the function at the center."""

    def __init__(self, slope: Array, *, compiled: bool) -> None:
        self.slopes, self.excess, self.weights = slope[None], np.zeros(1), np.ones(1)
        self._products = self.slopes @ self.slopes.T
        self._exchange = exchange
        if compiled:
            from gsopt.schedule.bounds.prices.bundle_kernel import exchange as kernel

            self._exchange = kernel

    def add(self, slope: Array, excess: float) -> None:
        """Add a plane, and drop the least important half of the planes if there are too many."""
        row = self.slopes @ slope
        self._products = np.block([[self._products, row[:, None]], [row[None], np.array([[slope @ slope]])]])
        self.slopes = np.concatenate([self.slopes, slope[None]])
        self.excess, self.weights = np.append(self.excess, excess), np.append(self.weights, 0.0)
        if len(self.slopes) > _PLANES:
            kept = np.argsort(-np.append(self.weights[:-1], np.inf), kind="stable")[: _PLANES // 2]
            self.slopes, self.excess, self.weights = self.slopes[kept], self.excess[kept], self.weights[kept]
            self.weights /= self.weights.sum()
            self._products = self._products[np.ix_(kept, kept)]

    def promise(self, point: Array, length: float, loose: float) -> tuple[Array, float]:
        """Return the next point, and the rise that the planes allow until there."""
        after = self.highest(point, length, loose)
        return after, float((self.excess + self.slopes @ (after - point)).min())

    def highest(self, point: Array, length: float, loose: float) -> Array:
        """Return the highest point below all planes, with a penalty for its distance from the center.

        At this point, the average of the planes that matters may rise along coordinates that are already 0.
        Which ones these are is found step by step.
        """
        low = np.zeros(len(point), dtype=bool)  # coordinates that become 0
        found = point
        for _ in range(_CHOICES):
            products, excess = self._products, self.excess
            if low.any():
                fixed = self.slopes[:, low]
                products, excess = products - fixed @ fixed.T, excess - fixed @ point[low]
            self._exchange(length * products, excess, self.weights, _EXCHANGES, loose)
            found = point + length * (self.weights @ self.slopes)
            if np.array_equal(low, found < 0):
                break
            low = found < 0
        highest: Array = np.maximum(found, 0.0)
        return highest


def exchange(products: Array, excess: Array, weights: Array, most: int, loose: float) -> None:
    """Reduce ``weights @ products @ weights / 2 + excess @ weights`` by moving weight between planes.

    The weights are changed in place, two at a time, and at most `most` times.
    """
    toward = products @ weights + excess
    for _ in range(most):
        best = toward.argmin()
        worst = np.where(weights > 0, toward, -np.inf).argmax()
        gap = toward[worst] - toward[best]
        spread = products[best, best] + products[worst, worst] - 2 * products[best, worst]
        if gap <= loose * (weights @ toward) or spread <= 0:
            break
        part = min(weights[worst], gap / spread)
        weights[worst] -= part
        weights[best] += part
        toward += part * (products[best] - products[worst])
