"""Grid: decimals, totals and steps."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.numbers.grid import ceil_to, decimal, exact_total, floor_digits, floor_to, highest, lowest, step

decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=9)
fractions = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)


@given(st.integers(-(10**15), 10**15), st.integers(0, 9))
def test_a_float_is_the_decimal_it_is_written_as(digits: int, places: int) -> None:
    """Up to fifteen digits, reading the float gives back exactly the decimal."""
    assert decimal(float(f"{digits}e-{places}")) == Fraction(digits, 10**places)


def test_a_fraction_next_to_a_decimal_stays_what_it_is() -> None:
    """The double nearest to 0.1 equals a fraction that is not 1/10, and either keeps its meaning."""
    double = Fraction(0.1)
    assert decimal(double) == double != Fraction(1, 10)
    assert decimal(0.1) == Fraction(1, 10)
    assert decimal(double) == double


@given(st.lists(decimals, max_size=20))
def test_totals_do_not_depend_on_the_order(values: list[object]) -> None:
    """Adding from either end gives the same exact number."""
    floats = [float(str(value)) for value in values]
    assert exact_total(floats) == exact_total(reversed(floats))


@given(st.lists(fractions, min_size=1, max_size=8))
def test_every_value_is_a_multiple_of_the_step_and_no_larger_step_does(values: list[Fraction]) -> None:
    """The step divides all values, and what is left of them has no common divisor."""
    found = step(values)
    if found is None:
        assert not any(values)
        return
    assert all((value / found).denominator == 1 for value in values)
    doubled = [value / (2 * found) for value in values]
    tripled = [value / (3 * found) for value in values]
    assert any(value.denominator > 1 for value in doubled)
    assert any(value.denominator > 1 for value in tripled)


@given(fractions, fractions.filter(lambda value: value > 0))
def test_rounding_goes_to_the_next_multiple(value: Fraction, unit: Fraction) -> None:
    """Rounding up and down enclose the value within one step, and leave multiples alone."""
    below, above = floor_to(value, unit), ceil_to(value, unit)
    assert below <= value <= above
    assert above - below in (0, unit)
    assert (above == below) == ((value / unit).denominator == 1)


@pytest.mark.parametrize("value", [1e-300, 1.1, 0.1 + 0.2, 1e15, -3.3])
def test_a_float_stands_for_a_few_ulps(value: float) -> None:
    """The decimal of a float lies between the least and the greatest number that it may stand for."""
    assert lowest(value) < decimal(value) < highest(value)
    assert float(highest(value) - lowest(value)) <= 1e-14 * abs(value)


def test_a_float_of_numpy_is_the_decimal_that_it_is() -> None:
    """What numpy computes is read as any float, though it is written with its type."""
    assert decimal(np.float64(1.01)) == Fraction(101, 100)


def test_digits_are_cut_downwards() -> None:
    """What is given has so many digits, is not above the value, and is within a unit of the last digit."""
    random = Random(7)
    for _ in range(500):
        value = Fraction(random.randint(-(10**25), 10**25), random.randint(1, 10 ** random.randint(0, 40)))
        digits = random.randint(1, 30)
        cut = floor_digits(value, digits)
        assert cut <= value
        assert value - cut <= abs(value) / Fraction(10) ** (digits - 1)
        assert floor_digits(cut, digits) == cut
        assert digits > 15 or not -(10**15) < cut < 10**15 or decimal(float(cut)) == cut
