"""Scores: integers that rate how much jobs slow each other down when they share GPUs."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.simulation.parts.accumulation import Pairs
from gsopt.simulation.policy import State

#: How jobs are scored: by model over all partners, by the particular pair, or by given scores per model name.
Scores = Literal["model", "pair"] | Mapping[str, int]

#: Lowest speeds when sharing, relative to the speed alone, with scores of 0 and 1. Source: Lucid's published
#: code.
_SPEEDS = (0.95, 0.85)

#: The highest score, for jobs that are slowed down most.
WORST = len(_SPEEDS)


def score(slowdown: Any) -> int:
    """Return the score for a factor of slowdown: 0 up to 1 / 0.95, 1 up to 1 / 0.85, and 2 above."""
    return sum(slowdown * speed > 1 for speed in _SPEEDS)


class Scorer:
    """A scorer that rates how much two particular jobs slow each other down; the base class of others."""

    def __init__(self) -> None:
        self._pairs = Pairs()

    def see(self, state: State, jobs: Iterable[int]) -> None:
        """Record jobs that have arrived; this base version does nothing."""

    def of(self, state: State, job: int, partner: int) -> int:
        """Return the sum of the two jobs' scores."""
        slowdown = self._pairs.slowdown
        return score(slowdown(state, job, partner)) + score(slowdown(state, partner, job))


def scorer_from(scores: Scores) -> Scorer:
    """Make a scorer from the option `scores` of `lucid`.

    Raises
    ------
    InvalidInput
        `scores` is unknown, or a given score is out of range.
    """
    if scores == "model":
        return _ModelScores()
    if scores == "pair":
        return Scorer()
    rule = "must be 'model', 'pair', or scores by name of the model"
    if not isinstance(scores, Mapping):
        raise InvalidInput("scores", shorten(scores), rule)
    for name, given in scores.items():
        require(given in range(WORST + 1), f"scores[{name!r}]", given, f"must be 0 to {WORST}")
    return _GivenScores(scores)


class _ModelScores(Scorer):
    """A scorer that rates a model by its mean speed beside all models seen so far, including itself."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, int] = {}  # a job of each model
        self._speeds: dict[str, Any] = {}  # sums

    def see(self, state: State, jobs: Iterable[int]) -> None:
        for job in jobs:
            model = state.jobs[job].model
            if model not in self._seen:
                self._speeds[model] = sum(
                    1 / self._pairs.slowdown(state, job, other) for other in self._seen.values()
                )
                self._seen[model] = job
                for other, its in self._seen.items():
                    self._speeds[other] += 1 / self._pairs.slowdown(state, its, job)

    def of(self, state: State, job: int, partner: int) -> int:
        models = (state.jobs[each].model for each in (job, partner))
        return sum(score(len(self._seen) / self._speeds[model]) for model in models)


class _GivenScores(Scorer):
    def __init__(self, scores: Mapping[str, int]) -> None:
        self._scores = scores

    def of(self, state: State, job: int, partner: int) -> int:
        return sum(self._scores.get(state.jobs[each].model, WORST) for each in (job, partner))
