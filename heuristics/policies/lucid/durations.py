"""Durations: predictors of the jobs' running times."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Literal

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.simulation.policy import State

#: How durations are predicted: known, means of completed jobs, or given by job name.
Predictions = Literal["known", "mean"] | Mapping[str, float]

#: Predicted seconds for a job without a prediction. Source: the published code, for predictions below 0.
UNKNOWN = 1000.0


class DurationPredictor:
    """A predictor of job durations that knows the true ones; the base class of other predictors."""

    def learn(self, state: State, complete: Iterable[int]) -> None:
        """Learn from completed jobs; this base version does nothing."""

    def of(self, state: State, job: int) -> float:
        """Return the predicted running time of a job, in seconds."""
        return state.jobs[job].duration


def predictor_from(predictions: Predictions) -> DurationPredictor:
    """Make a predictor from the option `predictions` of `lucid`.

    Raises
    ------
    InvalidInput
        The option is unknown, or a prediction is not finite.
    """
    if predictions == "known":
        return DurationPredictor()
    if predictions == "mean":
        return Means()
    rule = "must be 'known', 'mean', or seconds by name of the job"
    if not isinstance(predictions, Mapping):
        raise InvalidInput("predictions", shorten(predictions), rule)
    for name, seconds in predictions.items():
        sound = isinstance(seconds, int | float) and isfinite(seconds)
        require(sound, f"predictions[{name!r}]", seconds, "must be a finite number of seconds")
    return _Given(predictions)


class _Given(DurationPredictor):
    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds

    def of(self, state: State, job: int) -> float:
        seconds = self._seconds.get(state.jobs[job].name, UNKNOWN)
        return seconds if seconds >= 0 else UNKNOWN


class Means(DurationPredictor):
    """A predictor that uses the mean duration of the completed jobs that are most similar to a job.

    The most similar jobs are those of the same model with the same number of GPUs, or else those of the same
    model, or else those with the same number of GPUs, or else all jobs. Before any job completes, 1,000 s are
    predicted. Source: Lucid's published estimator for jobs with known names, which groups by names and users.
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[str, Any], tuple[float, int]] = {}  # seconds and number by group

    def learn(self, state: State, complete: Iterable[int]) -> None:
        """Learn the durations of completed jobs."""
        for job in complete:
            for group in self._groups(state, job):
                seconds, count = self._sums.get(group, (0.0, 0))
                self._sums[group] = seconds + state.jobs[job].duration, count + 1

    def of(self, state: State, job: int) -> float:
        """Return the predicted running time of a job, in seconds."""
        for group in self._groups(state, job):
            if group in self._sums:
                seconds, count = self._sums[group]
                return seconds / count
        return UNKNOWN

    @staticmethod
    def _groups(state: State, job: int) -> list[tuple[str, Any]]:
        """Return the groups to which a job belongs, narrowest first."""
        item = state.jobs[job]
        return [("both", (item.model, item.gpus)), ("model", item.model), ("gpus", item.gpus), ("all", None)]
