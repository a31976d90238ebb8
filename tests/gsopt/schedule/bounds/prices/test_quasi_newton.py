"""The climb reaches the top of concave functions, smooth ones and ones with kinks."""

import numpy as np
import pytest

from gsopt.schedule.bounds.prices.demand import Array
from gsopt.schedule.bounds.prices.quasi_newton import climb
from tests.gsopt.schedule.bounds.prices.climbing import top


def test_a_quadratic_is_climbed_in_few_steps() -> None:
    """Curvatures that differ by a factor of ten thousand are learned."""
    curves = np.geomspace(1, 1e4, 12)

    def function(point: Array) -> tuple[float, Array]:
        away = point - 1
        return float(-(curves * away * away).sum() / 2), -curves * away

    assert top(climb, function, np.zeros(12), 120) > -1e-6


def test_coordinates_stay_at_zero_where_the_top_is_below() -> None:
    """Half of the coordinates of the unconstrained top are negative; the others are reached all the same."""
    target = np.array([2.0, -3.0, 4.0, -1.0])

    def function(point: Array) -> tuple[float, Array]:
        return float(-((point - target) ** 2).sum()), 2 * (target - point)

    assert top(climb, function, np.ones(4), 60) == pytest.approx(-10.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_kinks_are_climbed(seed: int) -> None:
    """A sum of distances, with kinks everywhere, is climbed to within a thousandth of its height."""
    random = np.random.default_rng(seed)
    rows, target = random.normal(size=(25, 6)), random.uniform(0, 2, size=6)

    def function(point: Array) -> tuple[float, Array]:
        apart = rows @ (point - target)
        return float(-np.abs(apart).sum()), -rows.T @ np.sign(apart)

    start = np.zeros(6)
    assert top(climb, function, start, 400) > 1e-3 * function(start)[0]


def test_a_flat_function_ends() -> None:
    """Where nothing rises the climb ends by itself."""
    assert top(climb, lambda point: (0.0, 0 * point), np.zeros(3), 1_000) == 0
