"""The predictor: the prior, what it learns from completions, and that it learns the same every time."""

from typing import Any

import numpy as np
import pytest

from gsopt.core.errors import InvalidInput
from heuristics.policies.ones.progress import Learning, Observation, ProgressPredictor, Start, features_of
from tests.heuristics.policies.ones.progress.logs import draw_features, log_of


def _trained(lengths: list[int], **options: Any) -> ProgressPredictor:
    predictor = ProgressPredictor(Learning(**options), seed=1)
    for length in lengths:
        predictor.complete(log_of(length))
    return predictor


def test_before_any_completion_beta_is_the_prior() -> None:
    """Nothing is known but the prior, whatever is seen."""
    forecast = _trained([], prior=25.0).predict([log_of(9)[0], log_of(9)[7]])

    assert forecast.beta.tolist() == [25, 25]
    assert forecast.alpha.tolist() == [1, 8]


def test_before_three_completions_beta_is_the_mean_of_what_was_left() -> None:
    """Two logs of 3 and 5 epochs have 2, 1 and 4, 3, 2, 1 epochs left at their rows."""
    predictor = _trained([3, 5])

    assert predictor.regression is None
    assert np.allclose(predictor.predict(log_of(9)).beta, 13 / 6)


def test_from_three_completions_on_beta_follows_the_features() -> None:
    """Jobs late in training have fewer epochs left than those at the beginning."""
    predictor = _trained([20, 30, 40])
    early, late = predictor.predict([log_of(30)[2], log_of(30)[26]]).left()

    assert predictor.regression is not None
    assert late < 0.3 * early


def test_predictions_come_near_the_truth() -> None:
    """From a tenth on, what a job like those seen has left is off by less than a third of the whole."""
    predictor = _trained([20, 30, 40, 50])
    log = log_of(35)
    left = predictor.predict(log).left() / 1000

    assert np.abs(left - np.arange(34, -1, -1))[3:].max() < 12


def test_a_job_in_its_first_epoch_has_something_left() -> None:
    """Where nothing is processed, an epoch counts as processed, so that not nothing is left (Equation 7)."""
    seen = Observation(epoch_samples=2000, initial_loss=2, processed=0, loss=2)
    for predictor in (_trained([]), _trained([20]), _trained([20, 30, 40])):
        forecast = predictor.predict([seen])
        assert forecast.processed.tolist() == [2000]
        assert forecast.left()[0] >= 2000


def test_completions_in_one_epoch_leave_the_prior() -> None:
    """Jobs without a row before their end say nothing."""
    assert _trained([1, 1, 1, 1], prior=7.0).predict(log_of(3)).beta.tolist() == [7, 7, 7]


def test_the_same_seed_predicts_the_same() -> None:
    """Predictions depend on the logs and the seed only, not on how often they were asked for."""
    lengths = [20, 30, 40, 15, 25, 35]
    one, other = (ProgressPredictor(Learning(limit=30), seed=3) for _ in range(2))
    for length in lengths:
        one.complete(log_of(length))
        other.complete(log_of(length))
        other.predict(log_of(9))
    assert one.predict(log_of(9)).beta.tolist() == other.predict(log_of(9)).beta.tolist()


def test_learning_is_handed_on_to_the_fit() -> None:
    """Begun at zero, the predictor learns nothing, as the regression behind it."""
    assert _trained([20, 30, 40], start=Start.ZERO).predict(log_of(30)).beta.tolist() == [1] * 30


def test_features_do_as_well_as_observations() -> None:
    """Rows of features give what the observations give that they are of."""
    predictor, log = _trained([20, 30, 40]), log_of(30)
    assert (
        predictor.predict(log).left().tolist() == predictor.predict_features(features_of(log)).left().tolist()
    )


def test_many_jobs_at_once() -> None:
    """200 jobs, or none, are predicted in one call."""
    predictor = _trained([20, 30, 40])
    assert predictor.predict_features(draw_features(np.random.default_rng(0), 200)).left().shape == (200,)
    assert predictor.predict([]).left().shape == (0,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0.5}, "prior: 0.5: must be at least 1"),
        ({"prior": float("nan")}, "prior: nan: must be at least 1"),
        ({"limit": 0}, "limit: 0: must be at least 1"),
        ({"least_jobs": 0}, "least_jobs: 0: must be at least 1"),
        ({"ridge": -1.0}, "ridge: -1.0: must be at least 0"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """One line says which option is out of its range."""
    with pytest.raises(InvalidInput, match=message):
        Learning(**options)
