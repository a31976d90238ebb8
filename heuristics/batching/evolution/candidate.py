"""Candidate: a genome with its cost, in the form that DEAP expects."""

from collections.abc import Iterable

from deap import base


class CandidateCost(base.Fitness):  # type: ignore[misc]  # DEAP has no types
    """The fitness of a candidate in DEAP: a cost to be minimized."""

    weights = (-1.0,)


class Candidate(list[int]):
    """The job of each GPU (-1 for none), with a `fitness` that has no value until the candidate is scored."""

    def __init__(self, genome: Iterable[int] = (), score: float | None = None) -> None:
        super().__init__(genome)
        self.fitness = CandidateCost()
        if score is not None:
            self.fitness.values = (score,)

    def __deepcopy__(self, _memo: dict[int, object]) -> "Candidate":
        return Candidate(self, self.fitness.values[0] if self.fitness.valid else None)

    def copied(self) -> "Candidate":
        """Return a copy of the genome without a score."""
        return Candidate(self)
