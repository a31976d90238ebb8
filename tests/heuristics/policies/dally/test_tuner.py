"""Tuner: lists of waits, and what they say."""

from math import inf
from statistics import fmean, pstdev, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics.policies.dally.tuner import WaitList

HOUR = 3600.0


@pytest.mark.parametrize(("ddof", "hours"), [(1, 8.0), (0, 7.266)])
def test_two_standard_deviations_above_the_mean(ddof: int, hours: float) -> None:
    """Waits of 2, 4 and 6 hours give 8 hours by the deviation of a sample, 7.266 by that of a population."""
    waits = WaitList(ddof=ddof)
    for wait in (2, 4, 6):
        waits.add(0.0, wait * HOUR)
    assert waits.timer(0.0) == pytest.approx(hours * HOUR, abs=2)


def test_an_empty_list_says_nothing() -> None:
    """There is no average of nothing, be it that all has become too old."""
    waits = WaitList(history=10)
    assert waits.timer(0) is None
    waits.add(0, 5.0)
    assert waits.timer(10) == 5
    assert waits.timer(10.5) is None


@pytest.mark.parametrize("ddof", [0, 1])
def test_one_wait_deviates_from_nothing(ddof: int) -> None:
    """The deviation of a single wait is 0."""
    waits = WaitList(ddof=ddof)
    waits.add(0, 7.0)
    assert waits.timer(0) == 7


def test_everything_too_old_goes() -> None:
    """Of several old waits in a row none is passed over, as it would be by removing while going through."""
    waits = WaitList(history=10)
    for wait in (100.0, 200.0, 300.0):
        waits.add(0, wait)
    waits.add(8, 1.0)
    assert waits.timer(11) == 1


def test_age_may_be_the_wait_itself() -> None:
    """As printed, what is dropped are long waits, however recent, and no others, however old."""
    waits = WaitList(history=10, history_on="wait")
    waits.add(0, 4.0)
    waits.add(100, 40.0)
    assert waits.timer(1e9) == 4


def test_lists_may_have_a_greatest_length() -> None:
    """The latest waits are kept."""
    waits = WaitList(max_len=2)
    for wait in (90.0, 3.0, 3.0):
        waits.add(0, wait)
    assert waits.timer(0) == 3


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e9)), min_size=1, max_size=12),
    st.sampled_from([inf, 1e5, 1.0]),
    st.sampled_from([0, 1]),
    st.sampled_from([None, 1, 4]),
)
def test_timers_are_their_definition(
    steps: list[tuple[float, float]], history: float, ddof: int, max_len: int | None
) -> None:
    """At every time the timer is what the waits say that are not too old."""
    waits = WaitList(history=history, ddof=ddof, max_len=max_len)
    recorded: list[tuple[float, float]] = []
    now = 0.0
    for gap, wait in steps:
        now += gap
        waits.add(now, wait)
        recorded.append((now, wait))
        kept = recorded if max_len is None else recorded[-max_len:]
        fresh = [each for time, each in kept if now - time <= history]
        deviation = 0.0 if len(fresh) < 2 else (stdev if ddof else pstdev)(fresh)
        assert waits.timer(now) == pytest.approx(fmean(fresh) + 2 * deviation)
