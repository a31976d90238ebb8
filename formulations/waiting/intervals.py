"""Intervals: constraint programming with fixed GPUs and one optional interval per job and place."""

from fractions import Fraction
from math import ceil, floor

from formulations.waiting.best import BestRuns
from formulations.waiting.instance import SlottedInstance, SlottedRun
from formulations.waiting.latest import latest_ends
from formulations.waiting.listing import search_lists
from formulations.waiting.simple_bounds import bound_at_once
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import Result, StoppedBy, gap_by_value
from gsopt.problems.waiting import Waiting, WaitingSolution
from gsopt.solvers.backends import CpSat
from gsopt.solvers.backends.base import GRACE
from gsopt.solvers.backends.cumulative import Activity, ActivityTask, Chosen, CumulativeAnswer, Way, solve
from gsopt.solvers.backends.process import Frame, FrameKind


@exact_method(unused=["backend"])
def intervals(problem: Waiting, budget: Budget) -> Result[WaitingSolution]:
    """Solve a problem with CP-SAT, which chooses the start of each job and its GPUs on each machine.

    The method begins with list schedules and a simple bound. The model divides time into slots. If there would
    be too many, longer slots are used and times are rounded down; the optimum of the model is then only a
    bound. Starting the jobs in the order of the model's solution yields a schedule with exact times.

    Sets: jobs j; places P that can hold j: groups of GPUs on any tier; cells m: the innermost places.
    Parameters: d_j: GPUs of a job; p_jP: its run time at a place, in slots; r_j, H_j: its first slot and latest
    end, given the best known schedule; G_m: GPUs of a cell. Variables: s_j >= r_j: start; y_jP = 1 if job j is
    at place P; c_jPm: its GPUs of cell m, if the place has several cells. Objective: the sum of the ends s_j +
    sum_P p_jP y_jP, or the latest end. Constraints: sum_P y_jP = 1; sum_m c_jPm = d_j if y_jP = 1; each end is
    at most H_j; the running jobs hold at most G_m GPUs of each cell (cumulative constraints on optional
    intervals). Size: one interval per job and place, and one variable c_jPm per job, place and cell.

    Source: optional intervals and cumulative resources in constraint programming (Laborie and others, 2018);
    tiers as in Dally, section III.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, callback and log. The solver is always CP-SAT.

    Raises
    ------
    MissingSolver
        CP-SAT is not installed.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=10, gpus=2, model="alexnet") for n in "abc"]
    >>> result = intervals(Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=3), jobs=jobs))
    >>> result.status, result.objective
    (<Status.OPTIMAL: 'optimal'>, Fraction(202, 15))
    """
    best = BestRuns(SlottedInstance.of(problem), budget, "intervals")
    try:
        bound_at_once(best)
        search_lists(best)
        if not best.finished:
            solve_intervals(best)
        stopped_by = best.finished or StoppedBy.FINISHED
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return best.result(stopped_by, solver="cp-sat")


def solve_intervals(best: BestRuns) -> None:
    """Look for better schedules and bounds with CP-SAT until the gap is closed or the time limit is reached."""
    call = _IntervalCall(best)
    left = best.budget.left()
    reply = CpSat().call(solve, call.task(), limit=None if left is None else left + GRACE, hear=call.hear)
    if isinstance(reply.answer, CumulativeAnswer):
        call.take(reply.answer.chosen, reply.answer.bound)
    if reply.stopped_by is StoppedBy.INTERRUPT and not best.asked_to_stop:
        raise KeyboardInterrupt


class _IntervalCall:
    """One call to the solver, with the solutions and bounds that it reports."""

    def __init__(self, best: BestRuns) -> None:
        self.best, self.instance = best, best.instance.limited
        if best.value is None:
            raise AssertionError  # lists find a schedule
        jobs = range(len(self.instance.demand))
        self.places = [self.instance.places_of(job) for job in jobs]
        self.latest = latest_ends(self.instance, best.value)
        self.last = self.instance.problem.minimize == "makespan"

    def task(self) -> ActivityTask:
        """Return the model's data, in slots."""
        instance, budget = self.instance, self.best.budget
        parameters = {
            "num_workers": 1,
            "linearization_level": 2,
            "relative_gap_limit": gap_by_value(budget.gap),
            "catch_sigint_signal": False,
            "log_search_progress": budget.log,
            "log_to_stdout": False,
        }
        if (left := budget.left()) is not None:
            parameters["max_time_in_seconds"] = left
        value = self.best.value or 0
        return ActivityTask(
            activities=tuple(self._activity(job) for job in range(len(instance.demand))),
            sizes=instance.sizes,
            groups=tuple(place.cells for place in instance.places if len(place.cells) > 1),
            last=self.last,
            lower=ceil(self._total(self.best.bound)) if instance.is_exact else 0,
            upper=floor(self._total(value)),
            hint=self._hint(),
            parameters=parameters,
        )

    def hear(self, frame: Frame) -> bool:
        """Keep solutions and bounds that the solver finds along the way, and return whether to stop."""
        kind, content = frame
        if kind is FrameKind.INCUMBENT:
            self.take(*content)
        elif kind is FrameKind.BOUND:
            self.take(None, content)
        return self.best.asked_to_stop

    def take(self, chosen: tuple[Chosen, ...] | None, bound: float) -> None:
        """Keep a solution, if there is one, and a bound of the model."""
        instance = self.instance
        if chosen is not None:
            choices = [
                SlottedRun(each.start, self.places[job][each.way], each.units)
                for job, each in enumerate(chosen)
            ]
            self.best.take(instance.solution(choices))
        slots = ceil(bound - 0.5)
        if self.last:
            self.best.raise_bound(slots * instance.slot)
        else:
            total = slots * instance.slot - sum(instance.exact_release)
            self.best.raise_bound(total / len(instance.demand))

    def _total(self, value: Exact) -> Fraction:
        """Convert a value of the problem to the model's objective, in slots."""
        if self.last:
            return Fraction(value) / self.instance.slot
        return (Fraction(value) * len(self.latest) + sum(self.instance.exact_release)) / self.instance.slot

    def _activity(self, job: int) -> Activity:
        instance = self.instance
        choices = tuple(
            Way(instance.length(job, place), instance.demand[job], instance.places[place].cells)
            for place in self.places[job]
        )
        return Activity(instance.release[job], instance.slots(self.latest[job]), choices)

    def _hint(self) -> tuple[Chosen, ...]:
        choices = self.instance.choices(self.best.known)
        return tuple(
            Chosen(each.start, self.places[job].index(each.place), dict(each.counts or {}))
            for job, each in enumerate(choices)
        )
