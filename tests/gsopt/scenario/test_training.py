"""Training: samples until a target, and curves that end there."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.scenario.training import Training
from tests.effort import cases

_FINE: dict[str, Any] = {"epoch": 1000, "samples": 8000.0, "initial_loss": 2.5, "loss": 0.5, "accuracy": 0.9}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"epoch": 0}, "epoch"),
        ({"epoch": 1.5}, "epoch"),
        ({"samples": 0}, "samples"),
        ({"samples": float("inf")}, "samples"),
        ({"initial_loss": 0}, "initial_loss"),
        ({"loss": -1}, "loss"),
        ({"loss": 3}, r"loss: 3.0: must be at most the initial loss, 2.5"),
        ({"accuracy": 0}, "accuracy"),
        ({"accuracy": 1.1}, "accuracy"),
        ({"curvature": -1}, "curvature"),
    ],
)
def test_bad_trainings(change: dict[str, Any], reason: str) -> None:
    """A training that breaks a rule is refused, and the message says which."""
    with pytest.raises(ValidationError, match=reason):
        Training(**{**_FINE, **change})


@settings(max_examples=cases(200))
@given(curvature=st.floats(0, 100), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_curves_go_one_way_from_end_to_end(curvature: float, shares: tuple[float, float]) -> None:
    """The loss falls from its initial value to that at the target, and the accuracy rises from 0 to its own."""
    training = Training(**_FINE, curvature=curvature)
    early, late = sorted(shares)
    assert training.loss_at(0) == pytest.approx(2.5)
    assert training.loss_at(1) == 0.5
    assert training.loss_at(early) >= training.loss_at(late) - 1e-12
    assert training.accuracy_at(0) == pytest.approx(0, abs=1e-12)
    assert training.accuracy_at(1) == 0.9
    assert training.accuracy_at(early) <= training.accuracy_at(late) + 1e-12


def test_more_curvature_improves_earlier() -> None:
    """Half-way the accuracy is half of that at the target without curvature, and more with it."""
    halfway = [Training(**_FINE, curvature=each).accuracy_at(Fraction(1, 2)) for each in (0, 1e-9, 1, 5)]
    assert halfway[:2] == pytest.approx([0.45, 0.45])
    assert halfway[1] < halfway[2] < halfway[3]


def test_observation() -> None:
    """Epochs are samples over those of the data set, in fractions where samples are."""
    seen = Training(**_FINE, curvature=0).observe(Fraction(500), Fraction(1, 4))
    assert (seen.samples, seen.epochs) == (500, Fraction(1, 2))
    assert (seen.loss, seen.accuracy) == pytest.approx((2.0, 0.225))
