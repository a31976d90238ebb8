"""Scores: how badly jobs suffer from others that share their GPUs."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.simulation.parts.accumulation import Pairs
from gsopt.simulation.policy import State

#: Where scores are known from: a model beside all others, the very pair, or given by name of the model.
Scores = Literal["model", "pair"] | Mapping[str, int]

#: Least speed beside another, relative to that alone, of the scores 0 and 1. Source: Lucid's published code.
_SPEEDS = (0.95, 0.85)

#: Score of a model that hardly bears company.
WORST = len(_SPEEDS)


class Scorer(Protocol):
    """How badly two jobs suffer from each other."""

    def see(self, state: State, jobs: Iterable[int]) -> None:
        """Look at jobs that have arrived."""

    def of(self, state: State, job: int, partner: int) -> int:
        """Return the sum of both scores."""


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
        require(given in range(WORST + 1), f"scores[{name!r}]", given, f"must be 0 to {WORST}")
    return _GivenScores(scores)


class ModelScores:
    """Score a model by the score of its mean speed beside every model that has been seen, itself included."""

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
        """Return the sum of the scores of both models."""
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


def score(slowdown: Any) -> int:
    """Return how badly a job suffers from another, from 0 to 2."""
    return sum(slowdown * speed > 1 for speed in _SPEEDS)
