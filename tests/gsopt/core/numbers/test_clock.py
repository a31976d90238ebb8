"""The clock's error is that of floats: a few units in the last place, and a billionth of the span."""

from fractions import Fraction
from math import nextafter, ulp

import pytest

from gsopt.core.numbers.clock import clock_error


@pytest.mark.parametrize("time", [1e-3, 1.0, 1e6, 1.7e9, 1e12])
def test_a_tick_is_excused_and_twenty_are_not(time: float) -> None:
    """Without a span the error lies between one and twenty units in the last place of the time."""
    assert nextafter(time, 2 * time) - time <= clock_error(time, 0) < 20 * ulp(time)


def test_the_span_counts_by_itself() -> None:
    """Beyond the ticks a billionth of the span is excused, whatever the time, and in fractions too."""
    for time in (1.0, 1.7e9):
        assert clock_error(time, 1e6) - clock_error(time, 0) == pytest.approx(1e-3, rel=1e-6)
    assert clock_error(Fraction(3, 2), Fraction(1, 2)) == clock_error(1.5, 0.5)
