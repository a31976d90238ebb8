"""Priced: a search for problems with many jobs, which combines bounds from GPU prices with list schedules."""

import numpy as np

from formulations.scheduling.best import BestSchedule
from formulations.scheduling.incumbents import KnownLists
from formulations.scheduling.instance import Instance
from formulations.scheduling.relaxations import Cuts
from formulations.scheduling.windows import Windows
from gsopt.core.budget import Budget
from gsopt.core.numbers.compiled import is_ready
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.schedule.bounds.prices import PriceBound, price_bound

#: Fraction of the remaining time for each cycle; the last one applies to all further cycles.
_SHARES = (0.05, 0.2, 0.5, 1.0)

#: Fractions of a cycle for prices, for annealing, and for the linear program over an order of events.
_PARTS = (0.45, 0.45, 0.1)

#: Relative narrowing of the bracket that a cycle must achieve for the search to continue without a time limit.
_WORTH = 0.02

#: Number of time cells from which the number is doubled in each cycle, and the number beyond which bounds cost
#: more time than they gain.
_MANY_CELLS, _MOST_CELLS = 320, 1_280


class PricedSearch:
    """A search that alternates between improving prices of GPU time and improving lists of segments.

    The prices yield a bound on all schedules, and a value of each job's work, by which a further list is
    ordered. A price applies to a cell of time. The search starts with at most `cells` cells; by default, their
    number depends on the number of jobs.
    """

    def __init__(self, best: BestSchedule, incumbents: KnownLists, *, cells: int | None = None) -> None:
        self.best, self.incumbents = best, incumbents
        self._found: PriceBound | None = None
        self._cells = cells

    def close(self) -> None:
        """Narrow the gap until there is a reason to stop or, without a time limit, until it hardly narrows."""
        best, cycle = self.best, 0
        while best.finished is None and self.incumbents.is_ready:
            before, left = best.total - best.lower, best.budget.left()
            share = _SHARES[min(cycle, len(_SHARES) - 1)]
            bounding, searching, polishing = (None if left is None else part * share * left for part in _PARTS)
            self._raise_bound(bounding)
            if best.finished is None:
                self.incumbents.search(searching)
            if best.finished is None:
                self.incumbents.polish(polishing)
            cycle += 1
            gained = before - (best.total - best.lower)
            if left is None and not gained > _WORTH * before:  # nor where no schedule keeps the deadlines
                return
        if best.finished is None:  # there are seconds only
            self._raise_bound((best.budget.left() or 0.0) / 2)
        if best.finished is None:
            self.incumbents.descend()

    def _raise_bound(self, seconds: float | None) -> None:
        """Improve the prices, and serve the list that their dual values suggest."""
        problem = self.best.problem
        ready = is_ready("gsopt.schedule.bounds.prices.kernel", "evaluate_jobs", self.best.budget.left())
        size = 0 if self._found is None else len(self._found.prices)
        finer = max(size, min(2 * size, _MOST_CELLS))
        self._found = price_bound(
            problem.own_clock,
            seconds=seconds,
            start=self._found,
            cells=self._cells if size < _MANY_CELLS else finer,
            compiled=None if ready else False,
            on_progress=self._take,
        )
        worth = {
            job.name: slope
            for job, slope in zip(problem.own_clock.workload.jobs, self._found.slopes, strict=True)
        }
        seconds_of = {job.name: job.duration / job.work for job in problem.jobs}
        names = self.best.instance.names
        self.incumbents.serve_by(np.array([worth[name] * seconds_of[name] for name in names]))

    def _take(self, found: PriceBound) -> None:
        self.best.raise_bound(found.total_jct + self.best.instance.released)


def load_kernels() -> None:
    """Load the kernels of annealing and of prices, compiling them if necessary."""
    from formulations.scheduling.annealing import Annealing
    from formulations.scheduling.lagrangian import LagrangianRelaxation

    job = ElasticJob(name="job", release=0, work=1, rates={1: 1.0, 2: 1.5})
    problem = Scheduling(gpus=2, jobs=[job])
    best = BestSchedule(problem, Instance.of(problem), Budget(), "exact")
    search = Annealing(best.instance)
    search.improve(1)
    best.take_timetable(search.timetable)
    LagrangianRelaxation(best, Cuts()).solve(Windows.of(best.instance, best.limit), None, is_stuck=False)
