"""Decimals: many floats at once, against reading them one by one."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.numbers.decimals import whole_numbers
from gsopt.core.numbers.grid import decimal


@given(st.lists(st.tuples(st.integers(-(10**15) + 1, 10**15 - 1), st.integers(0, 12)), max_size=6))
def test_each_is_the_decimal_it_is_written_as(drawn: list[tuple[int, int]]) -> None:
    """Floats of up to fifteen digits are read like one by one, or refused together."""
    values = [float(f"{digits}e-{places}") for digits, places in drawn]
    whole = whole_numbers(values)
    if whole is not None:
        numbers, denominator = whole
        assert [Fraction(number, denominator) for number in numbers.tolist()] == [decimal(v) for v in values]


@given(st.lists(st.floats(-1e16, 1e16, allow_nan=False), max_size=4))
def test_no_float_is_read_as_another_decimal(values: list[float]) -> None:
    """Whatever the floats are, they are read right or not at all."""
    whole = whole_numbers(values)
    if whole is not None:
        numbers, denominator = whole
        assert [Fraction(number, denominator) for number in numbers.tolist()] == [decimal(v) for v in values]


@pytest.mark.parametrize(
    ("values", "whole"),
    [
        ([], ([], 1)),
        ([0.0, -0.0], ([0, 0], 1)),
        ([1e-9, 2.5e-8], ([1, 25], 10**9)),
        ([999_999_999_999_999.0], ([999_999_999_999_999], 1)),
        ([[1.5], [-2.25]], ([[150], [-225]], 100)),
    ],
)
def test_fifteen_digits_are_enough(values: list[float], whole: tuple[list[int], int]) -> None:
    """Few digits of any magnitude are one power of ten away from integers; shapes are kept."""
    found = whole_numbers(values)
    assert found is not None
    assert (found[0].tolist(), found[1]) == whole


@pytest.mark.parametrize("values", [[1e15], [1e9, 1e-9], [0.1 + 0.2], [1 / 3], [5e-324], [2.0**53 + 2]])
def test_more_digits_are_refused(values: list[float]) -> None:
    """Values that fifteen digits do not hold, alone or together, are refused."""
    assert whole_numbers(values) is None
