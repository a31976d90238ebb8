"""Incumbents: schedules from lists of segments, by indices, by dual values, and by annealing of the best."""

from typing import TYPE_CHECKING

from formulations.scheduling.best import Best
from formulations.scheduling.listing import serve_list
from formulations.scheduling.local_search import LocalSearch
from formulations.scheduling.segments import Integers, Reals, Segments
from gsopt.compiled import is_ready

if TYPE_CHECKING:
    from formulations.scheduling.annealing import Annealing

#: Steps of the first round for each segment, and how much more there are in each further one.
_STEPS, _GROWTH = 500, 3


class Incumbents:
    """The best lists of segments known, and a search from the best one.

    Parameters
    ----------
    best
        Where the schedules go.
    """

    def __init__(self, best: Best) -> None:
        self.best, self.segments = best, Segments.of(best.instance)
        self._lists: list[Integers] = []
        self._search: Annealing | None = None
        self._steps = _STEPS * len(self.segments.job)

    def serve(self) -> None:
        """Serve the jobs by the lists that need no search: the least area first, and the least time."""
        self._offer(self.segments.by_area())
        if not self.best.budget.passed:
            self._offer(self.segments.by_time())

    def serve_by(self, slopes: Reals) -> None:
        """Serve the jobs by what a unit of their work is worth."""
        self._offer(self.segments.by_slopes(slopes))

    def _offer(self, names: Integers) -> None:
        self.best.take_timetable(serve_list(self.best.instance, self.segments, names.tolist()))
        self._lists.append(names)

    @property
    def is_ready(self) -> bool:
        """Whether annealing can begin: its kernels are loaded, or there is time for that."""
        return is_ready("formulations.scheduling.moving", "anneal", self.best.budget.left())

    def descend(self) -> None:
        """Search without kernels, until the time is up."""
        known = [] if self.best.plan is None else [self.best.plan]
        for plan in LocalSearch(self.best.instance).begin(self.best.budget, known=known):
            self.best.take(plan)
            if self.best.finished is not None:
                return

    def search(self, seconds: float | None = None) -> None:
        """Anneal the best list for some seconds; without a limit, a round that is longer each time."""
        from formulations.scheduling.annealing import Annealing

        begin = self.best.budget.runtime
        if self._search is None:
            self._search = Annealing(self.best.instance, self._lists)
        else:
            for names in self._lists:
                self._search.offer(names)
        self._lists.clear()
        if seconds is None:
            steps, budget = self._steps, self.best.budget
            self._steps *= _GROWTH
        else:
            steps = self._search.steps_in(seconds)
            budget = self.best.budget.within(max(seconds - (self.best.budget.runtime - begin), 0.0))
        self._search.improve(steps, budget, self._tell)
        self._tell(self._search)

    def _tell(self, search: "Annealing") -> bool:
        """Take over what a search has found; tell whether it is to end."""
        if search.cost < self.best.total:
            self.best.take_timetable(search.timetable)
        return self.best.finished is not None
