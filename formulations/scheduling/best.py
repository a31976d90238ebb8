"""Best: the best schedule and the best bound known, and who is told of a better schedule."""

from math import inf

from formulations.scheduling.instance import Instance
from formulations.scheduling.order import Plan
from formulations.scheduling.timetable import Step, Timetable, replay, steps_of
from gsopt.budget import Budget
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.result import Result, StoppedBy
from gsopt.tolerances import LINEAR_ROWS


class Best:
    """What is known of a problem's optimum, from both sides, while an exact method runs.

    Parameters
    ----------
    problem, instance
        The problem, and its data on their own clock.
    budget
        What the method may use; its callback is told of each better schedule.
    method
        Name of the method.

    Attributes
    ----------
    plan
        The best plan, or None.
    lower
        A bound on the sum of completion times.
    infeasible
        Why there is no schedule, where that is proven.
    asked_to_stop
        Whether the callback wants an end.
    """

    def __init__(self, problem: Scheduling, instance: Instance, budget: Budget, method: str) -> None:
        self.problem, self.instance, self.budget, self.method = problem, instance, budget, method
        self.plan: Plan | None = None
        self.lower = sum(map(instance.earliest, range(len(instance))))
        self.infeasible = ""
        self.asked_to_stop = False
        self._timetable: Timetable | None = None

    @property
    def total(self) -> float:
        """Sum of completion times of the best plan; infinite where there is none."""
        return inf if self.plan is None else self.plan.total

    @property
    def limit(self) -> float:
        """Sum of completion times up to which schedules are looked for: the best one's, with room for rounding.

        Without room the programs would be on the brink of infeasibility, where solvers lose their way. Where no
        schedule is known, all that keep their deadlines are looked for.
        """
        if self.plan is None:
            return sum(self.instance.deadline)
        return self.total + LINEAR_ROWS * (self.total - self.instance.released)

    @property
    def gap(self) -> float:
        """Distance of value and bound, relative to the bound."""
        if self.plan is None:
            return inf
        return max(self.total - self.lower, 0.0) / (self.lower - self.instance.released)

    @property
    def closed(self) -> bool:
        """Whether value and bound are the same, as far as the problem's values can be told apart."""
        if self.plan is None:
            return False
        value = self.instance.mean_jct(self.total)
        return value - self.instance.mean_jct(self.lower) <= self.problem.resolution(value)

    @property
    def finished(self) -> StoppedBy | None:
        """Why to stop now, if there is a reason."""
        if self.closed or self.infeasible:
            return StoppedBy.FINISHED
        if self.asked_to_stop:
            return StoppedBy.INTERRUPT
        if self.gap <= self.budget.gap:
            return StoppedBy.GAP
        return StoppedBy.TIME_LIMIT if self.budget.passed else None

    def take_start(self) -> bool:
        """Take over the budget's start; tell whether there is one that can be replayed."""
        if self.budget.start is None:
            return False
        steps = tuple(steps_of(self.instance, self.budget.start))
        return self._keep(steps, replay(self.instance, steps))

    def take(self, plan: Plan | None) -> bool:
        """Keep a plan if its schedule is the best and keeps all deadlines; tell whether it is."""
        if plan is None:
            return False
        return self._keep(plan.steps, replay(self.instance, plan.steps))

    def _keep(self, steps: tuple[Step, ...], timetable: Timetable) -> bool:
        if timetable.total >= self.total or not self.instance.keeps_deadlines(timetable.completions):
            return False
        self.plan, self._timetable = Plan(steps, timetable.completions), timetable
        self._tell(timetable)
        return True

    def raise_bound(self, total: float) -> None:
        """Keep a bound on the sum of completion times of all schedules no worse than the best one known."""
        self.lower = max(self.lower, min(total, self.total))

    def result(
        self, stopped_by: StoppedBy, *, solver: str = "", message: str = ""
    ) -> Result[SchedulingSolution]:
        """Hand over what is known."""
        return Result.judged(
            self.problem,
            method=self.method,
            solution=None if self._timetable is None else self._timetable.solution,
            bound=None if self.infeasible else self.instance.mean_jct(self.lower),
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
            bound=self.instance.mean_jct(self.lower),
            runtime=self.budget.runtime,
        )
        self.asked_to_stop = self.asked_to_stop or bool(self.budget.on_incumbent(result))
