"""The bundle method reaches the top of concave functions with kinks, which a linear program computes too."""

import numpy as np
import pytest

from gsopt.schedule.bounds.prices import bundle
from gsopt.schedule.bounds.prices.bundle_kernel import exchange as kernel
from gsopt.schedule.bounds.prices.demand import Array
from tests.gsopt.schedule.bounds.prices.climbing import planes, top


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_lowest_of_planes_is_climbed_to_the_optimum_of_a_program(seed: int, compiled: bool) -> None:
    """The top of the lowest of 40 planes over nonnegative points is that of a linear program."""
    function, highest = planes(seed, (0, 5))
    found = top(bundle.climb_kinks, function, np.ones(6), 300, compiled=compiled)

    assert highest - 1e-3 * abs(highest) <= found <= highest + 1e-9


def test_coordinates_stay_at_zero_where_the_top_is_below() -> None:
    """Half of the coordinates of the unconstrained top are negative; the others are reached all the same."""
    target = np.array([2.0, -3.0, 4.0, -1.0])

    def function(point: Array) -> tuple[float, Array]:
        return float(-np.abs(point - target).sum()), np.sign(target - point)

    assert top(bundle.climb_kinks, function, np.ones(4), 200, compiled=False) == pytest.approx(-4.0, abs=1e-3)


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_size_of_values_does_not_matter(factor: float) -> None:
    """A function that is a billion times flatter or steeper is climbed as far."""
    target = np.linspace(0, 2, 8)

    def function(point: Array) -> tuple[float, Array]:
        return float(-factor * np.abs(point - target).sum()), factor * np.sign(target - point)

    assert top(bundle.climb_kinks, function, np.ones(8), 300, compiled=False) >= -1e-2 * factor


def test_the_kernel_exchanges_as_python_does() -> None:
    """Machine code and Python find the same weights, which add up to 1 and lower the function."""
    random = np.random.default_rng(1)
    for _ in range(50):
        rows, excess = random.normal(size=(9, 5)), random.uniform(0, 2, size=9)
        products = rows @ rows.T
        found = [np.append(np.zeros(8), 1.0) for _ in range(2)]
        for each, weights in zip((bundle.exchange, kernel), found, strict=True):
            each(products, excess, weights, 100, 1e-6)
        one, other = found
        assert one == pytest.approx(other)
        assert one.sum() == pytest.approx(1)
        assert one.min() >= 0
        assert one @ products @ one / 2 + one @ excess <= products[8, 8] / 2 + excess[8] + 1e-9
