"""Steps toward levels reach the top of concave functions with kinks, which a linear program computes too."""

import numpy as np
import pytest

from gsopt.schedule.bounds.prices.demand import Array
from gsopt.schedule.bounds.prices.levels import climb_levels
from tests.gsopt.schedule.bounds.prices.climbing import planes, top


@pytest.mark.parametrize("factor", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("seed", range(6))
def test_the_lowest_of_planes_is_climbed_to_the_optimum_of_a_program(seed: int, factor: float) -> None:
    """The top of the lowest of 40 planes over nonnegative points is that of a linear program, at any size."""
    function, highest = planes(seed, (95, 100))

    def scaled(point: Array) -> tuple[float, Array]:
        value, slope = function(point)
        return factor * value, factor * slope

    found = top(climb_levels, scaled, np.ones(6), 2000) / factor

    assert highest - 1e-4 * abs(highest) <= found <= highest + 1e-9


def test_a_flat_function_ends() -> None:
    """Where no coordinate that may change has a slope, the climb is over."""
    seen = []

    def function(point: Array) -> tuple[float, Array]:
        seen.append(point)
        return 1.0, np.array([0.0, -1.0])

    climb_levels(function, np.array([3.0, 0.0]))
    assert len(seen) == 1
