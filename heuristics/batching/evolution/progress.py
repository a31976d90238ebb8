"""Progress: the best candidate so far, and a line of statistics for every generation."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from heuristics.batching.evolution.candidate import Candidate

#: What is recorded of the scores of every generation.
_FIGURES = {
    "best": min,
    "median": median,
    "worst": max,
    "distinct": lambda scores: len(set(scores)),
}


class SearchProgress:
    """What a search tells of its generations, in a hall of fame and a logbook of DEAP.

    Scores under different draws of the remaining work cannot be compared. So where it is drawn the best
    candidate is that of the last generation, as in the paper, and else the best of all.

    Parameters
    ----------
    is_drawn
        Whether every generation is scored by a draw of its own.

    Attributes
    ----------
    logbook
        For each generation its number, best, median and worst score, and how many scores are distinct.
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
        """Take over a generation: its best genome, and all its scores, of which that has the first."""
        if self._is_drawn:
            self._hall.clear()
        if not self._hall or scores[0] < self.score:  # the hall asks too, but wants a candidate to do so
            self._hall.update([Candidate(best, scores[0])])
        self.logbook.record(generation=len(self.logbook), **self._statistics.compile(scores))

    @property
    def best(self) -> Candidate:
        """The best candidate."""
        found: Candidate = self._hall[0]
        return found

    @property
    def score(self) -> float:
        """What it cost when it was scored."""
        return float(self.best.fitness.values[0])
