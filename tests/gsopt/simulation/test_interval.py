"""Intervals between decisions."""

from fractions import Fraction
from math import inf, nan

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.simulation.interval import require_interval


@pytest.mark.parametrize("seconds", [1e-6, 1, 60.0, Fraction(1, 3), 1e12])
def test_intervals(seconds: object) -> None:
    """Seconds are an interval as long as the clock can tell them from none, and no longer than it goes."""
    require_interval("interval", seconds)


@pytest.mark.parametrize("seconds", [0, 9e-7, -1, 1.1e12, inf, -inf, nan, 10**400, True, None, "60", [60], 1j])
def test_other_values(seconds: object) -> None:
    """Nothing else is one, and the line says what is."""
    line = r"^lease: .*: must be a finite number of seconds, at least 1e-06 and at most 1e\+12$"
    with pytest.raises(InvalidInput, match=line):
        require_interval("lease", seconds)


def test_none_may_be_allowed() -> None:
    """None is an interval where it may be, and the line says so."""
    require_interval("lease", None, or_none=True)
    with pytest.raises(InvalidInput, match=r"or None$"):
        require_interval("lease", 0, or_none=True)
