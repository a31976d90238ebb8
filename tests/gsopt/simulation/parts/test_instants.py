"""Multiples of an interval."""

from fractions import Fraction

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.simulation.parts.instants import Instants


def test_multiples() -> None:
    """Multiples are instants, in floats and in fractions."""
    tenth = Instants(0.1)
    assert [tenth.reached(number * 0.1) for number in range(50)] == [True] * 50
    assert (tenth.after(0.0), tenth.reached(0.25)) == (0.1, False)
    third = Instants(3)
    assert [third.after(Fraction(time)) for time in ("7/2", "6")] == [6, 9]
    assert not third.reached(Fraction(7, 2))


def test_seconds_after_a_multiple_are_excused() -> None:
    """So many after it are as good as the multiple, more or any before it are not."""
    instants = Instants(10)
    assert [instants.reached(time, 0.5) for time in (20.0, 20.5, 20.75, 19.75)] == [True, True, False, False]


def test_a_wait_ends_once() -> None:
    """Where decisions come later than what was waited for, the first of them is the instant."""
    instants = Instants(60)
    assert instants.ask(61.0) == 120
    assert (instants.reached(125.0), instants.reached(125.0)) == (True, False)


def test_a_wait_that_is_not_asked_for_again_is_over() -> None:
    """Who decides before the instant and does not wait for it any more has to ask anew."""
    instants = Instants(60)
    instants.ask(61.0)
    assert (instants.reached(100.0), instants.reached(125.0)) == (False, False)
    instants.ask(126.0)
    assert not instants.reached(130.0)
    assert (instants.ask(130.0), instants.reached(181.0)) == (180, True)


@pytest.mark.parametrize("interval", [0, -1, 5e-324, float("inf"), float("nan"), "1", None])
def test_bad_intervals(interval: float) -> None:
    """An interval is a finite number of seconds, and none of next to nothing."""
    with pytest.raises(InvalidInput, match="must be a finite number of seconds, at least 1e-06"):
        Instants(interval, "each")
