"""Resizing: an interval model of elastic jobs that start, are resized and complete without preemption."""

import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from formulations.common.prover import Prover
from formulations.proving import proven_bound
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.blocks import by_blocks
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.resizing.cuts import cut
from formulations.scheduling.resizing.jobs import Resizable
from formulations.scheduling.resizing.model import COST, launch_model, soonest_completions
from formulations.scheduling.resizing.order import Event, best_steps, events_of
from formulations.scheduling.resizing.rules import launch, launches
from formulations.scheduling.timetable import TimetableStep, replay, steps_of
from gsopt.core.budget import Budget
from gsopt.core.errors import ModelMismatch, Unsupported
from gsopt.core.numbers.tolerances import CONTINUOUS
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.solvers.backends import Outcome
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm

#: Maximum number of pairs of a job and an interval for which the model is built: those of 30 jobs that are
#: released together.
_MOST_PLACES = 900

#: Seconds that are enough to load Pyomo, or SciPy's linear programs, for the first time on a busy machine.
_LOADING = 3.0

#: Smallest relative gap that the solver is asked for: well below the gap that counts as closed.
_GAP = CONTINUOUS / 4

#: Fraction of the remaining time for the solver; the rest is for proving the bound that it claims.
_SHARE = 0.5


class Resizing(Formulation[Scheduling, SchedulingSolution]):
    """A model that decides in which interval each job starts and completes, and its work in each interval.

    The model is a relaxation, so it bounds the optimum. A linear program (`order`) converts the order of events
    of the model's solution to a schedule, which is optimal if it meets the bound. A gap may remain, because the
    model divides GPUs continuously and does not fix when a job starts within an interval.

    The speed of each job must be proportional to its GPUs, and its possible numbers of GPUs must be equally
    spaced. The problem must not allow preemption or have a fairness constraint.

    Sets
    ----
    j: jobs. i: periods from one release date to the next; the last one has no end. (k, i): intervals, the part
    of period i in which k - 1 jobs are complete, for k = 1 .. n. An interval may be empty.

    Parameters
    ----------
    C: GPUs, rounded down to a multiple of the greatest common divisor of the jobs' possible numbers of GPUs.
    A_j: GPU-seconds of job j. a_j, b_j: its minimum and maximum number of GPUs. e_j: its earliest completion if
    it runs alone. U: sum of completion times of the best known schedule. H_ki: greatest possible length of
    interval (k, i).

    Variables
    ---------
    d[k, i]: length of interval (k, i). x[k, i], binary: the k-th completion is in period i. s[j, k, i], binary:
    job j starts in interval (k, i). c[j, k], binary: job j is the k-th to complete. y[j, k, i]: its GPU-seconds
    in interval (k, i).

    Objective
    ---------
    Minimize sum_k t_k, where t_k = sum_{q <= k, i} d[q, i] is the time of the k-th completion.

    Constraints
    -----------
    Let v_ki = sum_{q <= i} x[k - 1, q] - sum_{q < i} x[k, q], where the first sum is 1 for k = 1. v_ki is 1 if
    the schedule passes through interval (k, i). Let r_jki = sum_{q <= k, h <= i} s[j, q, h] - sum_{q < k}
    c[j, q]. r_jki is 1 if job j runs at the end of this interval.

    once[k], starts[j], ends[j], turn[k]: sum_i x_ki = sum_{k, i} s_jki = sum_k c_jk = sum_j c_jk = 1. passed,
    visits: v_ki >= 0 and v_ki >= s_jki. length[k, i]: d_ki <= H_ki v_ki. period[i]: sum_k d_ki is the length of
    period i, unless it is the last one. runs[j, k, i]: r_jki >= c_jk + x_ki - 1.

    work[j]: sum_{k, i} y_jki = A_j. there[j, k, i]: y_jki <= A_j (r_jki + 1 - v_ki). until[j, k]: the y of
    intervals up to k add up to A_j if job j is among the first k to complete. since[j, k, i]: the y of
    intervals up to k and i add up to 0 if job j starts later. most[j, k, i]: y_jki <= b_j d_ki. least[j, k, i]:
    y_jki >= a_j (d_ki - H_ki (1 - r_jki + s_jki)). area[k, i]: sum_j y_jki <= C d_ki. room[k, i]: sum_j a_j
    r_jki <= C.

    soonest[k]: t_k is at least the k-th smallest e_j, and at least the time of the k-th completion if all GPUs
    together always serve the job with the fewest remaining GPU-seconds. It is at most what these lower limits
    and sum_q t_q <= U imply. alone[k]: t_k >= sum_j e_j c_jk. alike[i, j, k]: of two equal jobs i < j, job i
    completes first. shared: limits on the joint work of jobs (`cuts`), added once a solution violates them.

    Size
    ----
    For n jobs with one release date: 2 n^2 + n binaries, n^2 + n other columns and 6 n^2 + 8 n rows (n of them
    with two limits), plus n - 1 rows for each pair of equal jobs. These numbers grow with the number of release
    dates.

    Source
    ------
    The problem is that of Aryl, section 5, which gives no model of it over time. The model is gsopt's own.

    Examples
    --------
    Table 4 of Aryl, at its optimum over time:

    >>> from gsopt.problems.scheduling import ElasticJob
    >>> a = ElasticJob(name="A", release=0, work=300, rates={2: 2, 3: 3})
    >>> b = ElasticJob(name="B", release=0, work=120, rates={count: count for count in range(2, 7)})
    >>> result = resizing(Scheduling(gpus=8, jobs=[a, b], preemptive=False))
    >>> result.status, round(2 * result.objective, 6)
    (<Status.OPTIMAL: 'optimal'>, 124.0)
    """

    name: ClassVar[str] = "resizing"
    own_unit: ClassVar[str] = "parts of the seconds that all work takes on all GPUs"

    @property
    def unused(self) -> frozenset[str]:
        """The options that the method ignores: none. Even a start is used, as the first known schedule."""
        return frozenset()

    def warm_up(self) -> None:
        """Load Pyomo and SciPy, which would take too long to load under a short time limit."""
        import pyomo.environ  # noqa: F401 - for whoever comes next
        import scipy.optimize  # noqa: F401 - likewise

    def build(self, problem: Scheduling) -> Any:
        """Build the Pyomo model.

        Raises
        ------
        Unsupported
            The jobs are not resizable (`Resizable.of`), or there are more than 900 pairs of a job and an
            interval. The limit allows 30 jobs with one release date, or 13 jobs with different release dates.
        """
        jobs = _jobs_of(problem)
        return launch_model(jobs, _first(problem, jobs, Budget(), self.name).total)

    def extract(self, values: Mapping[str, float], problem: Scheduling) -> SchedulingSolution:
        """Return the best schedule for the order of events that the column values represent.

        If no schedule has this order, the jobs are started by a rule (`launch`), which considers them in the
        order in which they start according to the values.
        """
        jobs = _jobs_of(problem)
        for plan in _plans(jobs, values):
            return replay(jobs.instance, plan).solution
        raise ModelMismatch(f"{self.name}: no schedule has the order of events of the model's solution")

    def run(self, problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
        """Solve within a budget, beginning with `budget.start` and with schedules that follow simple rules.

        As far as time allows, the best schedule with the same order of events is found for each of them. Then
        the model is solved. If there is no time to load Pyomo, the result is the best schedule found so far,
        with a simple bound.
        """
        Resizable.of(problem)  # refuses what it does not express
        return by_blocks(problem, budget, self._run_block, method=self.name)

    def _run_block(self, problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
        jobs = _jobs_of(problem)
        best = _first(problem, jobs, budget, self.name)
        best.raise_bound(sum(soonest_completions(jobs)))
        if best.finished is not None:
            return best.result(best.finished, message="simple rules meet a simple bound")
        if not _is_at_hand("pyomo.environ", budget):
            return best.result(StoppedBy.TIME_LIMIT, message="simple rules: there is no time to load the model")
        model = launch_model(jobs, best.total)
        outcome, values = _solve(model, best, jobs, relaxed=True)
        while cut(model, jobs, values) and best.finished is None:
            outcome, values = _solve(model, best, jobs, relaxed=True)
        is_cut = True
        while is_cut and best.finished is None:
            outcome, values = _solve(model, best, jobs, relaxed=False)
            is_cut = cut(model, jobs, values)
        stopped_by = best.finished or outcome.stopped_by
        return best.result(stopped_by, solver=outcome.solver, message=_message(jobs, best))


resizing = Resizing()


def _jobs_of(problem: Scheduling) -> Resizable:
    jobs = Resizable.of(problem)
    places = sum(jobs.there[period] for _, period in jobs.cells)
    if places > _MOST_PLACES:
        size = (
            f"{len(jobs)} jobs of {len(jobs.there)} release dates make {places} pairs of a job and an interval"
        )
        raise Unsupported(f"resizing: {size}: at most {_MOST_PLACES}")
    return jobs


def _first(problem: Scheduling, jobs: Resizable, budget: Budget, method: str) -> BestSchedule:
    """Find initial schedules: the start, simple rules, and the best plans for their orders of events."""
    best = BestSchedule(problem, jobs.instance, budget, method)
    best.take_start()
    plans = list(launches(jobs))
    if budget.start is not None:
        plans.append(list(steps_of(jobs.instance, budget.start)))
    for plan in plans:
        _take(best, plan)
        if not budget.passed and _is_at_hand("scipy.optimize", budget):
            _take(best, best_steps(jobs, events_of(plan)))
    return best


def _is_at_hand(module: str, budget: Budget) -> bool:
    """Check whether a module is loaded, or there is time to load it."""
    left = budget.left()
    return module in sys.modules or left is None or left >= _LOADING


def _solve(
    model: Any, best: BestSchedule, jobs: Resizable, *, relaxed: bool
) -> tuple[Outcome, Mapping[str, float]]:
    """Solve the model or its linear relaxation with the current cuts, and keep its bound and schedules."""
    form, budget = StandardForm.from_pyomo(model), best.budget
    form, left = form.relaxation if relaxed else form, budget.left()
    outcome = (budget.backend or Prover()).solve(
        form,
        time_limit=left if left is None or relaxed else _SHARE * left,
        gap=max(budget.gap / 2, _GAP),
        log=budget.log,
    )
    if outcome.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    if outcome.status is Status.INFEASIBLE:
        raise ModelMismatch("resizing: the model has no solution, although a schedule is known")
    values = {} if outcome.values is None else form.named(outcome.values)
    if values and not relaxed:
        for plan in _plans(jobs, values):
            _take(best, plan)
    if outcome.bound is not None and outcome.bound / COST * jobs.unit > best.lower:
        most = 1 + best.limit / jobs.unit  # a time, or a job's part of all work, which is at most 1
        largest = np.minimum(form.column_upper, most)
        goal = min(outcome.bound, best.goal * COST / jobs.unit)
        best.raise_bound(proven_bound(form, budget, largest=largest, goal=goal) / COST * jobs.unit)
    return outcome, values


def _take(best: BestSchedule, plan: list[TimetableStep] | None) -> None:
    if plan:
        best.take(OrderPlan(tuple(plan), replay(best.instance, plan).completions))


def _plans(jobs: Resizable, values: Mapping[str, float]) -> list[list[TimetableStep]]:
    """Return plans for the order of events in the column values: the best one, and two that follow rules."""
    order = _order(jobs, values)
    found = best_steps(jobs, order)
    starts = [job for job, begins in order if begins]
    return [*([found] if found else []), launch(jobs, starts, jobs.least), launch(jobs, starts, jobs.most)]


def _order(jobs: Resizable, values: Mapping[str, float]) -> list[Event]:
    """Return the order of events that the column values represent.

    Jobs that start in the same interval are in descending order of the time that their work there takes on
    their minimum number of GPUs.
    """
    events: list[Event] = []
    for k in range(len(jobs)):
        for i in (period for done, period in jobs.cells if done == k):
            length = values[f"d[{k},{i}]"]
            begun = [j for j in range(jobs.there[i]) if values[f"s[{j},{k},{i}]"] > 0]
            held = {j: values[f"y[{j},{k},{i}]"] * jobs.gpus / jobs.least[j] for j in begun}
            events += [Event(j, starts=True) for j in sorted(begun, key=lambda j: -min(held[j], length))]
        events += [Event(j, starts=False) for j in range(len(jobs)) if values[f"c[{j},{k}]"] > 0]
    return events


def _message(jobs: Resizable, best: BestSchedule) -> str:
    if best.closed:
        return ""
    if jobs.is_exact:
        return "the bound is that of a relaxation in which jobs may start late in an interval"
    return "the bound divides GPUs as a fluid: workers differ in size"
