"""What predicted slowdowns do to who shares."""

from fractions import Fraction
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.interference import compare_decisions
from tests.gsopt.performance.interference.tables import ruled

GOOD = ruled({"a": 0.25, "b": 0.25}, lambda _, __: 1.25).only([("a", "b")])
BAD = ruled({"a": 2, "b": 2}, lambda _, __: 3.0).only([("a", "b")])


def test_right_predictions_lose_nothing() -> None:
    """With the measured slowdowns every decision is the same, and nothing is lost."""
    for table in (GOOD, BAD):
        slowdowns = table.slowdowns["a"]["b"], table.slowdowns["b"]["a"]
        found = compare_decisions(table, [(("a", "b"), slowdowns)])
        assert (found.alike, found.deviation, found.cases) == (1, 0, 14)
        assert found.benefit == found.benefit_measured
        assert found.lost in (None, 0)


def test_never_sharing_loses_everything() -> None:
    """Two jobs of one second that share, slowed down by 1.25, end at 1.25 s instead of at 1 and 2 s."""
    found = compare_decisions(GOOD, [(("a", "b"), (9.0, 9.0))], ratios=[1.0])
    assert (found.alike, found.sharing, found.benefit, found.lost) == (0, 1, 1, 1)
    assert found.benefit_measured == pytest.approx(2 / 1.25)
    assert found.deviation == pytest.approx(1 - 1.25 / 2)


def test_sharing_that_costs_is_no_saving() -> None:
    """Where nobody should share nothing can be lost, yet the benefit of who shares is below 1."""
    found = compare_decisions(BAD, [(("a", "b"), (1.0, 1.0))], ratios=[1.0])
    assert (found.alike, found.sharing, found.benefit_measured, found.lost) == (0, 0, 1, None)
    assert found.benefit == pytest.approx(2 / 3)


def test_savings_count_relative_to_the_sum_without_sharing() -> None:
    """A pair that should share, 0.5 of 3 seconds, and one that should not, 3 more than 3: lost is 3 / 0.5."""
    table = ruled({"a": 0, "b": 1}, lambda mine, _: 3.0 if mine else 1.25).only([("a", "a"), ("b", "b")])
    found = compare_decisions(table, [(("a", "a"), (1, 1)), (("b", "b"), (1, 1))], ratios=[1.0])
    assert (found.cases, found.alike, found.sharing) == (2, 0.5, 0.5)
    assert found.lost == pytest.approx(float(Fraction(3) / Fraction(1, 2)))


def test_both_roles_count() -> None:
    """Either job is the running one, and for a configuration beside itself it makes no difference."""
    table = ruled({"a": 0, "b": 1}, lambda mine, _: 3.0 if mine else 1.0).only([("a", "b"), ("b", "b")])
    found = compare_decisions(table, [(("a", "b"), (1.0, 3.0))], ratios=[0.5])
    # Beside a, which ends at 0.5 s, b has done a sixth by then: it ends at 4/3 instead of 3/2 s, and the two
    # share. If b is the running one it ends at 7/6 and a at 1 s, worse than the 1/2 and 3/2 of waiting.
    assert found.benefit_measured == pytest.approx((1.125 + 1) / 2)
    assert (found.sharing, found.alike) == (0.5, 1)
    assert compare_decisions(table, [(("b", "b"), (3.0, 3.0))], ratios=[0.5, 1]).cases == 2


@pytest.mark.parametrize(
    ("predicted", "ratios", "message"),
    [
        ([(("a", "z"), (1.0, 1.0))], [1.0], r"pair: \('a', 'z'\): must have been measured"),
        ([(("a", "b"), (0.5, 1.0))], [1.0], "slowdown_running: 0.5: must be at least 1"),
        ([(("a", "b"), (1.0, 1.0))], [0.0], "ratios: 0.0: must be numbers above 0"),
        ([(("a", "b"), (1.0, 1.0))], [float("inf")], "ratios: inf: must be numbers above 0"),
        ([(("a", "b"), (1.0, 1.0))], [], "predicted: must hold a pair, and ratios a number"),
        ([], [1.0], "predicted: must hold a pair, and ratios a number"),
    ],
)
def test_nothing_to_decide_is_refused(predicted: Any, ratios: list[float], message: str) -> None:
    """Unknown pairs, speed-ups, ratios that are none and empty inputs are one line."""
    with pytest.raises(InvalidInput, match=message):
        compare_decisions(GOOD, predicted, ratios=ratios)


@pytest.mark.parametrize("ratio", [1e-9, 1e9])
def test_lengths_of_any_ratio(ratio: float) -> None:
    """Beside a job that is almost done, or takes almost for ever, the right predictions still lose nothing."""
    found = compare_decisions(GOOD, [(("a", "b"), (1.25, 1.25))], ratios=[ratio])
    assert (found.alike, found.deviation) == (1, 0)
    assert found.lost in (None, 0)
