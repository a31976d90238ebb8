"""Prediction: the slowdowns of pairs that were not measured."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gsopt.performance.interference.table import PairTable, Profile

#: The largest slowdown that data may contain (`gsopt.scenario.job.Slowdown`).
_LARGEST = 1e6


@dataclass(frozen=True)
class Prediction:
    """What a predictor has learned from a table: a function that estimates slowdowns.

    Attributes
    ----------
    estimate
        Function that returns, for each of the given pairs, the slowdown of the first configuration due to the
        second.
    importance
        Fraction of the explained variance due to each feature; empty if the predictor reports none.

    Examples
    --------
    >>> prediction = Prediction(estimate=lambda pairs: [0.9 for _ in pairs])
    >>> a, b = (Profile(name=name, features={}) for name in "ab")
    >>> prediction.slowdowns([(a, b)])
    [1.0]
    >>> prediction.filled(PairTable(profiles=[a, b], slowdowns={"a": {"a": 1.5}}))
    {'a': {'a': 1.5, 'b': 1.0}, 'b': {'a': 1.0, 'b': 1.0}}
    """

    estimate: Callable[[Sequence[tuple[Profile, Profile]]], Iterable[float]]
    importance: Mapping[str, float] = field(default_factory=dict)

    def slowdowns(self, pairs: Sequence[tuple[Profile, Profile]]) -> list[float]:
        """Return the slowdown of each pair's first configuration due to the second one, limited to [1, 1e6]."""
        return [min(max(1.0, float(value)), _LARGEST) for value in self.estimate(pairs)]

    def filled(self, table: PairTable) -> dict[str, dict[str, float]]:
        """Return the slowdowns of all pairs of a table's profiles: measured if available, predicted otherwise.

        The result can be used as ``interference`` of `gsopt.scenario.speed.Speed`.
        """
        found: dict[str, dict[str, float]] = {}
        for one in table.profiles:
            row = self.slowdowns([(one, other) for other in table.profiles])
            names = (profile.name for profile in table.profiles)
            found[one.name] = dict(zip(names, row, strict=True)) | dict(table.slowdowns.get(one.name, {}))
        return found


class Predictor(Protocol):
    """The interface of predictors: functions that learn from a table of pairs and return a `Prediction`."""

    def __call__(self, table: PairTable, /) -> Prediction:
        """Learn from a table of pairs, and return a prediction."""
        ...
