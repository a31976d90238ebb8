"""Quantities, as Kubernetes writes them."""

from fractions import Fraction
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.snapshots.field import Field
from gsopt.snapshots.kubernetes.quantities import amount, quantity


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (None, 0),
        (8, 8),
        ("8", 8),
        (0.5, Fraction(1, 2)),
        ("100m", Fraction(1, 10)),
        ("1.5", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("1k", 1000),
        ("1Ki", 1024),
        ("2Gi", 2 * 2**30),
        ("3E", 3 * 10**18),
        ("1e3", 1000),
        ("12E-1", Fraction(6, 5)),
        ("500n", Fraction(1, 2_000_000)),
    ],
)
def test_quantities(written: Any, value: Fraction) -> None:
    """Every way to write an amount gives its exact value."""
    assert quantity(Field("", written)) == value


@pytest.mark.parametrize(
    "written", ["", "x", "1 Gi", "-1", "1GB", "1ki", "1e999", "0x8", "٣", "1" * 30, True, [], {}]
)
def test_what_is_no_quantity(written: Any) -> None:
    """Anything else is refused in one line."""
    with pytest.raises(InvalidInput, match="must be"):
        quantity(Field("", written))


def test_rounding() -> None:
    """What is needed is rounded up, what is there down, and neither is larger than decisions count."""
    assert [amount(Field("", "x"), Fraction(5, 2), needed=needed) for needed in (True, False)] == [3, 2]
    with pytest.raises(InvalidInput, match="must be at most 1,000,000,000 of what it is counted in"):
        amount(Field("", "x"), Fraction(10**9 + 1), needed=True)
