"""Progress: the best candidate so far, and statistics of every generation."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from heuristics.batching.evolution.candidate import Candidate

#: Statistics of the scores of a generation.
_FIGURES = {
    "best": min,
    "median": median,
    "worst": max,
    "distinct": lambda scores: len(set(scores)),
}


class SearchProgress:
    """A record of a search's generations, kept in DEAP's hall of fame and logbook.

    If the remaining work is drawn anew in every generation, the scores of different generations are not
    comparable. The best candidate is then the best of the last generation, as in the paper. Otherwise it is the
    best of all generations.
    """

    def __init__(self, is_drawn: bool = False) -> None:
        from deap import tools  # slower to load than all the rest

        self._is_drawn = is_drawn
        self._hall: Any = tools.HallOfFame(1)
        self._statistics: Any = tools.Statistics()
        for name, function in _FIGURES.items():
            self._statistics.register(name, function)
        self.logbook: Any = tools.Logbook()

    def record(self, best: list[int], scores: Sequence[float]) -> None:
        """Record the best genome of a generation and the scores of all its genomes, the best score first."""
        if self._is_drawn:
            self._hall.clear()
        if not self._hall or scores[0] < self.score:  # the hall compares too, but needs a Candidate for it
            self._hall.update([Candidate(best, scores[0])])
        self.logbook.record(generation=len(self.logbook), **self._statistics.compile(scores))

    @property
    def best(self) -> Candidate:
        """The best candidate of all generations, or of the last generation if work is drawn anew."""
        found: Candidate = self._hall[0]
        return found

    @property
    def score(self) -> float:
        """The cost of the best candidate when it was scored."""
        return float(self.best.fitness.values[0])
