"""Knowledge of Lucid: how long jobs are predicted to run, and how well their models bear company."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Literal, Protocol

from gsopt.errors import InvalidInput, shorten
from gsopt.simulation import State
from gsopt.simulation.deciders.accumulation import Pairs
from heuristics.policies.restricted_sharing import score

#: Where durations are known from: they are true, means of jobs that are complete, or given by name of the job.
Predictions = Literal["known", "mean"] | Mapping[str, float]

#: Where scores are known from: a model beside all others, the very pair, or given by name of the model.
Scores = Literal["model", "pair"] | Mapping[str, int]

#: Seconds of a job of which nothing is known. Source: the published code, for predictions below 0.
UNKNOWN = 1000.0

#: Score of a model that hardly bears company.
WORST = 2


class Predictor(Protocol):
    """Predicts how long jobs run."""

    def learn(self, state: State, complete: Iterable[int]) -> None:
        """Take note of jobs that are complete."""

    def of(self, state: State, job: int) -> float:
        """Predict the seconds of a job."""


def predictor_from(predictions: Predictions) -> Predictor:
    """Make a predictor.

    Raises
    ------
    InvalidInput
        There are no such predictions.
    """
    if predictions == "known":
        return _Known()
    if predictions == "mean":
        return Means()
    rule = "must be 'known', 'mean', or seconds by name of the job"
    if not isinstance(predictions, Mapping):
        raise InvalidInput("", "predictions", shorten(predictions), rule)
    for name, seconds in predictions.items():
        if not (isinstance(seconds, int | float) and isfinite(seconds)):
            raise InvalidInput(
                "", f"predictions[{name!r}]", shorten(seconds), "must be a finite number of seconds"
            )
    return _Given(predictions)


class _Known:
    def learn(self, state: State, complete: Iterable[int]) -> None:
        pass

    def of(self, state: State, job: int) -> float:
        return state.jobs[job].duration


class _Given:
    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds

    def learn(self, state: State, complete: Iterable[int]) -> None:
        pass

    def of(self, state: State, job: int) -> float:
        seconds = self._seconds.get(state.jobs[job].name, UNKNOWN)
        return seconds if seconds >= 0 else UNKNOWN


class Means:
    """Predict the mean duration of those completed jobs that are most like a job.

    They are those of its model on as many GPUs, else those of its model, else those on as many GPUs, else all.

    Source: Lucid's published estimator for jobs of known names, whose groups are names and users.
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[str, Any], tuple[float, int]] = {}  # seconds and number by group

    def learn(self, state: State, complete: Iterable[int]) -> None:
        """Take note of jobs that are complete."""
        for job in complete:
            for group in self._groups(state, job):
                seconds, count = self._sums.get(group, (0.0, 0))
                self._sums[group] = seconds + state.jobs[job].duration, count + 1

    def of(self, state: State, job: int) -> float:
        """Predict the seconds of a job."""
        for group in self._groups(state, job):
            if group in self._sums:
                seconds, count = self._sums[group]
                return seconds / count
        return UNKNOWN

    @staticmethod
    def _groups(state: State, job: int) -> list[tuple[str, Any]]:
        """Give the groups of a job, the narrowest first."""
        item = state.jobs[job]
        return [("both", (item.model, item.gpus)), ("model", item.model), ("gpus", item.gpus), ("all", None)]


class Scorer(Protocol):
    """Tells how badly two jobs suffer from each other."""

    def see(self, state: State, jobs: Iterable[int]) -> None:
        """Look at jobs that have arrived."""

    def of(self, state: State, job: int, partner: int) -> int:
        """Give the sum of both scores."""


def scorer_from(scores: Scores) -> Scorer:
    """Make a scorer.

    Raises
    ------
    InvalidInput
        There are no such scores.
    """
    if scores == "model":
        return ModelScores()
    if scores == "pair":
        return _PairScores()
    rule = "must be 'model', 'pair', or scores by name of the model"
    if not isinstance(scores, Mapping):
        raise InvalidInput("", "scores", shorten(scores), rule)
    for name, given in scores.items():
        if given not in range(WORST + 1):
            raise InvalidInput("", f"scores[{name!r}]", shorten(given), f"must be 0 to {WORST}")
    return _GivenScores(scores)


class ModelScores:
    """Give a model the score of its mean speed beside every model that has been seen, itself included."""

    def __init__(self) -> None:
        self._pairs = Pairs()
        self._seen: dict[str, int] = {}  # a job of each model
        self._speeds: dict[str, Any] = {}  # sums

    def see(self, state: State, jobs: Iterable[int]) -> None:
        """Look at the models of jobs that have arrived."""
        for job in jobs:
            model = state.jobs[job].model
            if model not in self._seen:
                self._speeds[model] = sum(
                    1 / self._pairs.slowdown(state, job, its) for its in self._seen.values()
                )
                self._seen[model] = job
                for other, its in self._seen.items():
                    self._speeds[other] += 1 / self._pairs.slowdown(state, its, job)

    def of(self, state: State, job: int, partner: int) -> int:
        """Give the sum of the scores of both models."""
        return self._score(state.jobs[job].model) + self._score(state.jobs[partner].model)

    def _score(self, model: str) -> int:
        return score(len(self._seen) / self._speeds[model])


class _PairScores:
    def __init__(self) -> None:
        self._pairs = Pairs()

    def see(self, state: State, jobs: Iterable[int]) -> None:
        pass

    def of(self, state: State, job: int, partner: int) -> int:
        slowdown = self._pairs.slowdown
        return score(slowdown(state, job, partner)) + score(slowdown(state, partner, job))


class _GivenScores:
    def __init__(self, scores: Mapping[str, int]) -> None:
        self._scores = scores

    def see(self, state: State, jobs: Iterable[int]) -> None:
        pass

    def of(self, state: State, job: int, partner: int) -> int:
        return sum(self._scores.get(state.jobs[each].model, WORST) for each in (job, partner))
