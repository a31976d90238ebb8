"""Best: the best schedule and bound that an exact method knows."""

from math import inf, isfinite

from formulations.scheduling.instance import Instance
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.timetable import (
    Timetable,
    TimetableStep,
    replay,
    steps_of,
    steps_of_pieces,
    timetable_of,
)
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import CONTINUOUS, LINEAR_ROWS, TERM
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.scheduling import Scheduling, SchedulingSolution

#: Relative distance below the value at which a bound settles the problem: half of the gap that counts as
#: closed.
_SETTLES = CONTINUOUS / 2


class BestSchedule:
    """The best schedule and the best bound of a problem while an exact method runs.

    `instance` is the problem on a clock that begins at the first release date. `lower` is a lower bound on the
    sum of completion times, in seconds. `infeasible` states why there is no schedule, once this has been
    proven.
    """

    def __init__(self, problem: Scheduling, instance: Instance, budget: Budget, method: str) -> None:
        self.problem, self.instance, self.budget, self.method = problem, instance, budget, method
        self.completions: tuple[float, ...] | None = None
        self.lower = sum(map(instance.earliest, range(len(instance))))
        self.infeasible = ""
        self.asked_to_stop = False
        self._timetable: Timetable | None = None
        self._plan: OrderPlan | None = None

    @property
    def plan(self) -> OrderPlan | None:
        """The best schedule as a plan, or None if there is none."""
        if self._plan is None and self._timetable is not None:
            self._plan = OrderPlan(steps_of_pieces(self._timetable), self._timetable.completions)
        return self._plan

    @property
    def total(self) -> float:
        """The sum of completion times of the best schedule, in seconds; infinity if there is none."""
        return inf if self._timetable is None else self._timetable.total

    @property
    def limit(self) -> float:
        """The largest sum of completion times that matters: the best schedule's, plus a margin for rounding.

        Without the margin, the programs would be barely feasible, which solvers handle badly. If there is no
        schedule yet, this is the sum of the deadlines.
        """
        if self.completions is None:
            return sum(self.instance.deadline)
        return self.total + LINEAR_ROWS * (self.total - self.instance.released)

    @property
    def bound(self) -> float:
        """A lower bound on the mean job completion time in seconds, safe against rounding errors of the sum."""
        rounding = TERM * (len(self.instance) + 16) * self.lower
        return max(self.instance.mean_jct(self.lower - rounding), 0.0)

    @property
    def goal(self) -> float:
        """A bound on the sum of completion times that, once reached, proves the best schedule optimal."""
        return self.total - _SETTLES * (self.total - self.instance.released)

    @property
    def gap(self) -> float:
        """The distance of the mean job completion time from its bound, relative to the bound.

        It is infinite if there is no schedule.
        """
        if self.completions is None:
            return inf
        return max(self.total - self.lower, 0.0) / (self.lower - self.instance.released)

    @property
    def closed(self) -> bool:
        """Whether value and bound agree within the problem's resolution."""
        if self.completions is None:
            return False
        value = self.instance.mean_jct(self.total)
        return value - self.bound <= self.problem.resolution(value)

    @property
    def finished(self) -> StoppedBy | None:
        """The reason to stop now, or None if the method should continue."""
        if self.closed or self.infeasible:
            return StoppedBy.FINISHED
        if self.asked_to_stop:
            return StoppedBy.INTERRUPT
        if self.gap <= self.budget.gap:
            return StoppedBy.GAP
        return StoppedBy.TIME_LIMIT if self.budget.passed else None

    def take_start(self, *, as_it_is: bool = False) -> bool:
        """Keep the start if it is the best schedule so far and meets all deadlines; return whether it is kept.

        With `as_it_is`, the runs keep the rounding errors of their times instead of being replayed, because
        replaying many jobs can take longer than the time limit.
        """
        if self.budget.start is None:
            return False
        if as_it_is:
            return self.take_timetable(timetable_of(self.instance, self.budget.start))
        steps = tuple(steps_of(self.instance, self.budget.start))
        return self.take_timetable(replay(self.instance, steps), steps)

    def take(self, plan: OrderPlan | None) -> bool:
        """Keep a plan if its schedule is the best so far and meets all deadlines; return whether it is kept."""
        if plan is None:
            return False
        return self.take_timetable(replay(self.instance, plan.steps), plan.steps)

    def take_timetable(self, timetable: Timetable, steps: tuple[TimetableStep, ...] | None = None) -> bool:
        """Keep a timetable if it is the best so far and meets all deadlines; return whether it is kept.

        `steps` are the timetable's steps, if known.
        """
        if timetable.total >= self.total or not self.instance.keeps_deadlines(timetable.completions):
            return False
        self._plan = None if steps is None else OrderPlan(steps, timetable.completions)
        self._timetable, self.completions = timetable, timetable.completions
        self._tell(timetable)
        return True

    def raise_bound(self, total: float) -> None:
        """Raise the lower bound on the sum of completion times, in seconds.

        `total` is a lower bound on this sum for all schedules that are at least as good as the best known one.
        A weaker bound than the known one changes nothing.
        """
        lower = min(total, self.total)
        if lower > self.lower:
            self.lower = lower
            if isfinite(lower):  # without any schedule there is none of a mean
                self.budget.report(bound=self.bound)

    def result(
        self, stopped_by: StoppedBy, *, solver: str = "", message: str = ""
    ) -> Result[SchedulingSolution]:
        """Return the best schedule and bound as a result."""
        return Result.judged(
            self.problem,
            method=self.method,
            solution=None if self._timetable is None else self._timetable.solution,
            bound=None if self.infeasible else self.bound,
            infeasible=bool(self.infeasible),
            stopped_by=stopped_by,
            solver=solver,
            message=self.infeasible or message,
            runtime=self.budget.runtime,
        )

    def _tell(self, timetable: Timetable) -> None:
        if self.budget.on_incumbent is None:
            return
        result = Result.judged(
            self.problem,
            method=self.method,
            solution=timetable.solution,
            bound=self.bound,
            runtime=self.budget.runtime,
        )
        self.asked_to_stop = self.asked_to_stop or bool(self.budget.on_incumbent(result))
