"""Incumbents: schedules from lists of segments that indices, dual values and annealing suggest."""

from math import inf
from typing import TYPE_CHECKING

from formulations.scheduling.best import BestSchedule
from formulations.scheduling.listing import serve_by_rest, serve_list
from formulations.scheduling.local_search import LocalSearch
from formulations.scheduling.order import best_nearby_plan, event_order
from formulations.scheduling.segments import Integers, Reals, Segments
from gsopt.core.numbers.compiled import is_ready

if TYPE_CHECKING:
    from formulations.scheduling.annealing import Annealing

#: Maximum number of jobs for which a linear program finds the best plan for an order of events.
_MOST_POLISHED = 150

#: Seconds per job that serving by remaining work takes, the fraction of the remaining time that it may take,
#: and the seconds that it may always take.
_RANKING_TIME, _RANKING_SHARE, _RANKING_GRACE = 2e-4, 0.3, 0.1

#: Number of steps per segment in the first round, and the factor by which it grows from round to round.
_STEPS, _GROWTH = 500, 3


class KnownLists:
    """Lists of segments (`Segments`) that yield schedules, and annealing that starts from the best list."""

    def __init__(self, best: BestSchedule) -> None:
        self.best, self.segments = best, Segments.of(best.instance)
        self._lists: list[Integers] = []
        self._search: Annealing | None = None
        self._polished = inf
        self._steps = _STEPS * len(self.segments.job)

    def serve(self) -> None:
        """Serve the jobs in orders that need no search: smallest area first, and shortest time first.

        Each order is tried as a fixed list, and as an order that follows the remaining work of the jobs, as in
        online policies. The order in which the jobs of the best schedule complete yields one more list. The
        first list is always tried, the others only while there is time.
        """
        best, segments = self.best, self.segments
        for sizes in (segments.areas, segments.times):
            self._offer(segments.by_size(sizes))
            if self._is_over or not self._is_affordable:
                return
            best.take_timetable(serve_by_rest(best.instance, segments, sizes.tolist()))
            if self._is_over:
                return
        if best.completions is not None:
            self._offer(segments.by_completion(best.completions))

    @property
    def _is_over(self) -> bool:
        """Whether to stop, on request or because time is up and a schedule is known."""
        return self.best.asked_to_stop or (self.best.completions is not None and self.best.budget.passed)

    @property
    def _is_affordable(self) -> bool:
        """Whether there is time for orders that change as the jobs run."""
        left = self.best.budget.left()
        seconds = _RANKING_TIME * len(self.best.instance)
        return left is None or seconds <= max(_RANKING_SHARE * left, _RANKING_GRACE)

    def serve_by(self, slopes: Reals) -> None:
        """Serve segments in descending order of value per GPU, given the value of a unit of each job's work."""
        self._offer(self.segments.by_slopes(slopes))

    def _offer(self, names: Integers) -> None:
        self.best.take_timetable(serve_list(self.best.instance, self.segments, names.tolist()))
        self._lists.append(names)

    @property
    def is_ready(self) -> bool:
        """Whether annealing can begin: its kernels are loaded or need not be, or there is time to load them."""
        return is_ready("formulations.scheduling.moving", "anneal", self.best.budget.left())

    def descend(self) -> None:
        """Run a local search, which needs no compiled kernels, until it ends or there is a reason to stop."""
        known = [] if self.best.plan is None else [self.best.plan]
        for plan in LocalSearch(self.best.instance).begin(self.best.budget, known=known):
            self.best.take(plan)
            if self.best.finished is not None:
                return

    def search(self, seconds: float | None = None) -> None:
        """Anneal the best list for the given number of seconds.

        If `seconds` is None, each call takes more steps than the previous one.
        """
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

    def polish(self, seconds: float | None = None) -> None:
        """Improve the best schedule of at most 150 jobs by `best_nearby_plan` for its order of events."""
        best, jobs = self.best, len(self.best.instance)
        if best.plan is None or jobs > _MOST_POLISHED or best.total == self._polished:
            return
        budget = best.budget if seconds is None else best.budget.within(seconds)
        order = event_order(best.instance, best.plan.completions)
        best.take(best_nearby_plan(best.instance, order, known=[best.plan], budget=budget))
        self._polished = best.total

    def _tell(self, search: "Annealing") -> bool:
        """Keep the result of a search if it is better, and return whether to stop."""
        if search.cost < self.best.total:
            self.best.take_timetable(search.timetable)
        return self.best.finished is not None
