"""Samples: a table of pairs as training data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import copysign, log, log1p

from gsopt.core.errors import InvalidInput
from gsopt.performance.interference.table import PairTable, Profile


@dataclass(frozen=True)
class Samples:
    """Every measured direction of every pair, with the features of both jobs and the slowdown's logarithm.

    Because slowdowns are ratios, predictors learn their logarithms, so that an error of 10 % counts the same
    for every slowdown. Features are transformed by ``sign(x) log(1 + |x|)``, because they differ by factors of
    thousands. The transformation keeps their order, so it hardly affects trees.

    Source: Castor, section 6.2, which learns from the features of both jobs of a pair.
    """

    table: PairTable

    def __post_init__(self) -> None:
        if not self.table.couples:
            raise InvalidInput("slowdowns", "", "must hold a pair to learn from", source=self.table.name)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns of `rows`: the features of the job itself, then those of its partner."""
        return (*self.table.features, *(f"partner's {name}" for name in self.table.features))

    @cached_property
    def rows(self) -> list[list[float]]:
        """Transformed features of both jobs, one row for each measured direction of each pair."""
        by_name = self.table.by_name
        return self.vectors([(by_name[one], by_name[other]) for one, other, _ in self._directions()])

    @cached_property
    def logs(self) -> list[float]:
        """Logarithms of the slowdowns, in the order of `rows`."""
        return [log(slowdown) for _, _, slowdown in self._directions()]

    def vectors(self, pairs: Sequence[tuple[Profile, Profile]]) -> list[list[float]]:
        """Return the transformed features of pairs, or raise `InvalidInput` if the table has no features."""
        if not self.table.features:
            raise InvalidInput("features", "", "must have at least one to learn from", source=self.table.name)
        return [self._vector(one) + self._vector(other) for one, other in pairs]

    def _vector(self, profile: Profile) -> list[float]:
        values = (profile.features[name] for name in self.table.features)
        return [copysign(log1p(abs(value)), value) for value in values]

    def _directions(self) -> Iterator[tuple[str, str, float]]:
        for one, row in self.table.slowdowns.items():
            for other, slowdown in row.items():
                yield one, other, slowdown
