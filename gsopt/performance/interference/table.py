"""Table: measured slowdowns of two configurations (models with a batch size) that share one GPU."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Self

from pydantic import model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.problem import Frozen, Many, Name, RuleBroken, refuse_doubles
from gsopt.scenario.job import Slowdown

#: Names of two configurations, in any order.
Couple = tuple[str, str]


class Profile(Frozen):
    """The measurements of a configuration (a model with a batch size) that runs alone on a GPU.

    Attributes
    ----------
    name
        Name of the configuration, also used as the `model` of its jobs.
    features
        Measured values, keyed by names that include the unit.

    Examples
    --------
    >>> Profile(name="bert-32", features={"batch size": 32, "GPU utilisation (%)": 97.5}).features["batch size"]
    32.0
    """

    name: Name
    features: Mapping[Name, float]


class PairTable(Frozen):
    """Measured slowdowns of pairs of configurations that share one GPU.

    Attributes
    ----------
    name
        Name of the table, used in messages.
    profiles
        The configurations, all with the same features.
    slowdowns
        ``slowdowns[a][b]`` is the factor, at least 1, by which an iteration of ``a`` takes longer on a GPU
        shared with ``b``. The mapping can be used as ``interference`` of `gsopt.scenario.speed.Speed`. A pair
        is listed in both directions, or in neither if it was not measured.

    Examples
    --------
    >>> table = PairTable(
    ...     profiles=[Profile(name="a", features={"load": 0.9}), Profile(name="b", features={"load": 0.3})],
    ...     slowdowns={"a": {"a": 1.8, "b": 1.2}, "b": {"a": 1.5}},
    ... )
    >>> table.couples
    (('a', 'a'), ('a', 'b'))
    >>> table.only([("a", "b")]).slowdowns
    {'a': {'b': 1.2}, 'b': {'a': 1.5}}
    """

    name: str = ""
    profiles: Many[Profile]
    slowdowns: Mapping[Name, Mapping[Name, Slowdown]]

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse_doubles("profiles", (profile.name for profile in self.profiles))
        _check_features(self.profiles)
        _check_slowdowns(self.slowdowns, {profile.name for profile in self.profiles})
        return self

    @cached_property
    def by_name(self) -> Mapping[str, Profile]:
        """The configurations, keyed by name."""
        return {profile.name: profile for profile in self.profiles}

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features, in alphabetical order."""
        return tuple(sorted(self.profiles[0].features)) if self.profiles else ()

    @cached_property
    def couples(self) -> tuple[Couple, ...]:
        """The measured pairs, each once, in the order of the profiles."""
        place = {profile.name: index for index, profile in enumerate(self.profiles)}
        found = ((a, b) for a, row in self.slowdowns.items() for b in row if place[a] <= place[b])
        return tuple(sorted(found, key=lambda couple: (place[couple[0]], place[couple[1]])))

    def slowdown(self, one: str, other: str) -> float:
        """Return the measured slowdown of `one` beside `other`, or raise `InvalidInput` if there is none."""
        if other not in self.slowdowns.get(one, {}):
            raise InvalidInput("pair", shorten((one, other)), "must have been measured", source=self.name)
        return self.slowdowns[one][other]

    def only(self, couples: Iterable[Couple]) -> "PairTable":
        """Return a table with all profiles, but with only the given measured pairs, in both directions."""
        kept: dict[str, dict[str, float]] = {}
        for first, second in couples:
            for one, other in ((first, second), (second, first)):
                kept.setdefault(one, {})[other] = self.slowdown(one, other)
        return self.model_copy(update={"slowdowns": kept})


def _check_features(profiles: Many[Profile]) -> None:
    """Reject profiles with different features."""
    for index, profile in enumerate(profiles):
        if profile.features.keys() != profiles[0].features.keys():
            rule = f"must be those of the first: {', '.join(sorted(profiles[0].features))}"
            raise RuleBroken(f"profiles[{index}].features", sorted(profile.features), rule)


def _check_slowdowns(slowdowns: Mapping[str, Mapping[str, float]], known: set[str]) -> None:
    """Reject pairs of unknown configurations, and pairs measured in only one direction."""
    for one, row in slowdowns.items():
        for name in (one, *row):
            if name not in known:
                raise RuleBroken("slowdowns", name, "must be the name of a profile")
        for other in row:
            if one not in slowdowns.get(other, {}):
                raise RuleBroken(f"slowdowns.{one}.{other}", row[other], f"needs that of {other} beside {one}")
