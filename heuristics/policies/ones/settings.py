"""Settings: the options of the policy `ones`, checked."""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Literal, get_args

from pydantic import ValidationError

from gsopt.core.errors import require, require_one_of
from gsopt.core.files import first_error
from heuristics.batching.evolution.search import Engine
from heuristics.batching.evolution.settings import Settings
from heuristics.policies.ones.limits import Floor, Penalty
from heuristics.policies.ones.remaining_work import Knowledge

#: Which jobs must run: those that have never run, as printed, or all.
Forced = Literal["new", "all"]


@dataclass(frozen=True, kw_only=True)
class OnesSettings:
    """The options of `heuristics.policies.ones.ones`, documented there."""

    knowledge: Knowledge = "predicted"
    generations_per_second: float = 1.0
    most_generations: int = 20
    mutation_rate: float = 0.3
    population: int | None = None
    penalty: Penalty = "current"
    rate: float | None = None
    forced: Forced = "all"
    floor: Floor = "sample"
    every_epoch: bool = True
    engine: Engine = "vectorised"
    seed: int = 0

    def __post_init__(self) -> None:
        words = {"knowledge": Knowledge, "penalty": Penalty, "forced": Forced, "floor": Floor, "engine": Engine}
        for name, choices in words.items():
            require_one_of(name, getattr(self, name), get_args(choices))
        for name in ("generations_per_second", "rate"):
            number = 0 if name == "rate" and self.rate is None else getattr(self, name)
            sound = isinstance(number, int | float) and 0 <= number < inf
            require(sound, name, number, "must be a number, at least 0")
        sound = isinstance(self.most_generations, int) and self.most_generations >= 1
        require(sound, "most_generations", self.most_generations, "must be an integer, at least 1")
        _ = self.evolution

    @cached_property
    def evolution(self) -> Settings:
        """The settings of the evolutionary search."""
        try:
            return Settings(population=self.population, mutation_rate=self.mutation_rate)
        except ValidationError as error:
            raise first_error("", error) from None
