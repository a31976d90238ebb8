"""Observations, and rows of them."""

import numpy as np
import pytest
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from heuristics.policies.ones.progress import FEATURES, Observation, ObservationRows, features_of, rows_of
from tests.heuristics.policies.ones.progress.logs import log_of


def test_features_are_those_of_the_footnote() -> None:
    """Epoch size, initial loss, processed samples, 1 - current loss / initial loss, accuracy."""
    seen = Observation(epoch_samples=3600, initial_loss=0.7, processed=7200, loss=0.35, accuracy=0.8)

    assert dict(zip(FEATURES, seen.features, strict=True)) == {
        "epoch size": 3600,
        "initial loss": 0.7,
        "processed samples": 7200,
        "loss improvement ratio": 0.5,
        "validation accuracy": 0.8,
    }
    assert features_of([seen, seen]).tolist() == [list(seen.features)] * 2


def test_a_loss_that_grew_is_a_negative_improvement() -> None:
    """The ratio is below 0 where training has diverged."""
    seen = Observation(epoch_samples=3600, initial_loss=0.5, processed=7200, loss=1.5)
    assert seen.features[3] == -2


def test_rows_of_a_log_have_alpha_and_progress() -> None:
    """A row at the end of each epoch but the last, whose progress of 1 has no likelihood."""
    rows = rows_of(log_of(4))

    assert rows.progress.tolist() == [0.25, 0.5, 0.75]
    assert rows.alpha.tolist() == [1, 2, 3]
    assert rows.epochs_left.tolist() == [3, 2, 1]


def test_alpha_is_held_at_one_epoch() -> None:
    """Within the first epoch alpha is 1."""
    seen = Observation(epoch_samples=1000, initial_loss=2, processed=250, loss=2)
    assert rows_of([seen], total=1000).alpha.tolist() == [1]


def test_an_observation_before_training_gives_no_row() -> None:
    """At a progress of 0 every beta is more likely than the one before, so the row is left out."""
    before = Observation(epoch_samples=1000, initial_loss=2, processed=0, loss=2)
    assert len(rows_of([before, *log_of(2)])) == 1


def test_a_job_may_end_within_an_epoch() -> None:
    """With a total, the last observation is a row too if something was left then."""
    assert rows_of(log_of(4), total=5000).progress.tolist() == [0.2, 0.4, 0.6, 0.8]


def test_no_log_is_no_rows() -> None:
    """Without observations, or with one at the end only, there is nothing to learn."""
    assert len(rows_of([])) == 0
    assert len(rows_of(log_of(1))) == 0


def test_a_log_that_counts_down_is_refused() -> None:
    """Processed samples never shrink, and never exceed the total."""
    with pytest.raises(InvalidInput, match=r"log: .*: must count processed samples up"):
        rows_of(log_of(3)[::-1])
    with pytest.raises(InvalidInput, match="total: 2000: must be at least the 3000 processed"):
        rows_of(log_of(3), total=2000)


@pytest.mark.parametrize(
    ("features", "progress", "message"),
    [
        (np.ones((2, 4)), [0.5, 0.5], "must have a row of 5 features"),
        (np.ones((1, 5)), [0.5, 0.5], "must have a row of 5 features"),
        (np.full((1, 5), np.nan), [0.5], "must be finite"),
        (np.zeros((1, 5)), [0.5], "epochs have samples"),
        (np.ones((1, 5)), [0.0], "progress: 0.0: must be more than 0"),
        (np.ones((1, 5)), [1.0], "progress: 1.0: must be more than 0"),
        (np.ones((1, 5)), [np.nan], "progress: nan: must be more than 0"),
    ],
)
def test_bad_rows_are_refused(features: np.ndarray, progress: list[float], message: str) -> None:
    """One line says what is wrong with rows."""
    with pytest.raises(InvalidInput, match=message):
        ObservationRows(features=features, progress=np.array(progress))


@pytest.mark.parametrize(
    ("field", "value"),
    [("epoch_samples", 0.0), ("initial_loss", 0.0), ("processed", -1.0), ("loss", -0.1), ("accuracy", 1.01)],
)
def test_observations_out_of_range_are_refused(field: str, value: float) -> None:
    """An epoch has samples, training begins with a loss, and an accuracy is at most 1."""
    data = {"epoch_samples": 10.0, "initial_loss": 2.0, "processed": 0.0, "loss": 1.0, field: value}
    with pytest.raises(ValidationError, match=field):
        Observation(**data)
