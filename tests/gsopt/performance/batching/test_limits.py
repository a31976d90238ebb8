"""Limits of batch sizes, case by case and against counting."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.performance.batching import LimitRules, ScaleDown, scaled_down

LIMITS = st.integers(1, 500)
SHARES = st.fractions(min_value=0, max_value=60, max_denominator=1000)


def _counted(limit: int, share: Fraction) -> int:
    """Count up to the two ceilings of the formula, a second version of it."""
    parts = 1
    while parts < share + 1:
        parts += 1
    result = 0
    while result * parts < 2 * limit:
        result += 1
    return result


@given(limit=LIMITS, rate=SHARES.filter(bool), share=SHARES)
@example(limit=1, rate=Fraction(1, 10), share=Fraction(1))
@example(limit=4096, rate=Fraction(1, 3), share=Fraction(20))
def test_both_ceilings_are_exact(limit: int, rate: Fraction, share: Fraction) -> None:
    """The formula on fractions gives what counting up to its ceilings gives."""
    assert scaled_down(limit, rate, share / rate) == _counted(limit, share)


@given(limit=LIMITS, tenths=st.integers(1, 400), tenths_of_seconds=st.integers(1, 400))
def test_floats_are_rounded_to_no_other_ceiling(limit: int, tenths: int, tenths_of_seconds: int) -> None:
    """Decimals give the ceilings of the decimals, also when they are the result of adding floats up."""
    exact = _counted(limit, Fraction(tenths * tenths_of_seconds, 100))
    added = sum([0.1] * tenths_of_seconds)
    assert scaled_down(limit, tenths / 10, tenths_of_seconds / 10) == exact
    assert scaled_down(limit, tenths / 10, added) == exact


def test_limits_by_hand() -> None:
    """Small limits stay, decimals are exact, and at sigma = 0 or T = 0 limits double."""
    assert all(scaled_down(1, 0.1, elapsed) == 1 for elapsed in (1, 10, 11, 100, 10**9))
    assert [scaled_down(2, 0.1, elapsed) for elapsed in (1, 10, 11, 20, 20.5)] == [2, 2, 2, 2, 1]
    assert (0.1 * 3) / 0.3 > 1
    assert scaled_down(512, (0.1 * 3) / 0.3, 1.0) == 512
    assert LimitRules(rate=(0.1 * 3) / 0.3).after_epoch(512, 1.0) == 1024
    assert scaled_down(300, 0.1, 0) == 600
    assert LimitRules().after_epoch(300, 1e9) == 600


@pytest.mark.parametrize(
    ("limit", "expected", "times"),
    [
        (300, 300, [0.001, 1, 5, 10]),
        *((limit, two_thirds, [10.1, 15, 20]) for limit, two_thirds in ((300, 200), (301, 201), (302, 202))),
        (256, 171, [10.1, 15, 20]),
        (4096, 391, [200]),
    ],
)
def test_the_formula_by_hand(limit: int, expected: int, times: list[float]) -> None:
    """The formula gives R up to sigma T = 1, ceil(2 R / 3) up to 2, and 391 for R = 4,096 at sigma T = 20."""
    assert [scaled_down(limit, 0.1, elapsed) for elapsed in times] == [expected] * len(times)


@pytest.mark.parametrize("limit", [3, 100, 4096, 10**12])
def test_repeated_at_every_epoch_it_comes_down_to_two(limit: int) -> None:
    """A job with 1 < sigma T <= 2 ends at 2 and stays there, one with sigma T > 2 at 1."""
    for elapsed, last in ((15, 2), (25, 1)):
        current = limit
        for _ in range(100):
            current = scaled_down(current, 0.1, elapsed)
        assert current == last


def test_limits_of_limits() -> None:
    """Limits start at one GPU's until warm, double up to the largest, and may come from numpy."""
    rules = LimitRules(rate=0.1)
    assert rules.started(128) == 128
    assert rules.after_epoch(128, 5, warm=False) == 128
    assert rules.after_epoch(128, 500, warm=False) == 128
    assert rules.after_epoch(128, 5) == 256
    rules = LimitRules(largest=1000)
    assert [rules.after_epoch(limit, 60) for limit in (256, 500, 501, 1000)] == [512, 1000, 1000, 1000]
    assert rules.started(2048) == 1000
    assert LimitRules().after_epoch(int(np.int32(2**30)), 1) == 2**31
    assert LimitRules().after_epoch(np.int32(2**30), 1) == 2**31  # type: ignore[arg-type]
    assert scaled_down(3, np.int64(1), np.int64(2)) == 2  # type: ignore[arg-type]
    assert scaled_down(3, np.float32(0.25), np.float32(8)) == 2  # type: ignore[arg-type]


def test_rejected_and_short_jobs() -> None:
    """A rejection halves a limit and never gives 0; up to sigma T = 1 the limit is doubled."""
    assert [LimitRules().rejected(limit) for limit in (13, 6, 3, 1)] == [6, 3, 1, 1]
    assert [LimitRules(rate=0.1).after_epoch(300, elapsed) for elapsed in (0, 5, 10)] == [600] * 3


@given(limit=LIMITS, elapsed=st.floats(0, 1e6))
def test_a_long_job_is_scaled_down_instead_of_being_doubled(limit: int, elapsed: float) -> None:
    """Above sigma T = 1 the formula takes the place of the doubling: it is not applied to the doubled limit."""
    rules = LimitRules(rate=0.1)
    long = elapsed * (1 - 1e-9) > 10
    assert rules.after_epoch(limit, elapsed) == (scaled_down(limit, 0.1, elapsed) if long else 2 * limit)


@given(limit=LIMITS, elapsed=st.floats(0, 1e6))
def test_the_printed_rule_is_the_formula_for_all(limit: int, elapsed: float) -> None:
    """As printed, every running job gets the formula, so none that has run is ever doubled."""
    rules = LimitRules(rate=0.1, scale_down=ScaleDown.PRINTED)
    after = rules.after_epoch(limit, elapsed)
    assert after == scaled_down(limit, 0.1, elapsed)
    assert after <= limit if elapsed > 0 else after == 2 * limit


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "8", float("nan")])
def test_a_limit_that_is_none_is_refused(limit: object) -> None:
    """Limits are integers of at least 1; the line names the value."""
    rules = LimitRules(rate=0.1)
    calls = (
        rules.started,
        rules.rejected,
        lambda value: rules.after_epoch(value, 1),
        lambda value: rules.after_epoch(value, 1, warm=False),
        lambda value: scaled_down(value, 0.1, 1),
    )
    for call in calls:
        with pytest.raises(InvalidInput, match=r"limit: .*: must be an integer of at least 1"):
            call(limit)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rate", "elapsed"), [(-0.1, 1), (0.1, -1), (float("inf"), 1), (0.1, float("nan"))])
def test_a_time_that_is_none_is_refused(rate: float, elapsed: float) -> None:
    """Rates and times are finite and at least 0."""
    with pytest.raises(InvalidInput, match="must be at least 0, and finite"):
        scaled_down(8, rate, elapsed)
