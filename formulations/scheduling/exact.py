"""Exact: a bracket around the optimum, list schedules above and bucket relaxations below, until it closes."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

from formulations.deadline import Deadline
from formulations.scheduling.bucket import BucketModel, Grid, Reals, Spans
from formulations.scheduling.fairness import fairest
from formulations.scheduling.instance import Instance
from formulations.scheduling.local_search import good_plans
from formulations.scheduling.milp import Known, Search
from formulations.scheduling.mixture import Item
from formulations.scheduling.order import Plan, best_nearby_plan, event_order
from formulations.scheduling.positions import Positions
from formulations.scheduling.timetable import replayed
from gsopt.backends import Backend, Highs, Incumbent, Outcome
from gsopt.bounds import lower_bound
from gsopt.errors import Unsupported
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.result import Result, StoppedBy

#: Gap in the mean job completion time, relative to it, at which the bracket counts as closed.
_CLOSED = 5e-7

#: Columns of a relaxation, at most; the grid is coarsened to that.
_MOST_COLUMNS = 15_000

#: Shortest bucket of the first grid that is coarser than usual, as a share of the horizon, and of each further
#: one in terms of the one before.
_COARSER, _GROWTH = 1e-3, 1.5

#: Jobs up to which the model of positions is tried.
_MOST_POSITIONS = 15

#: Part of a time by which the model of positions may pass it.
_WIDER = 1e-6

#: Linear relaxations in a row, each with the spans that the one before left.
_NARROWINGS = 3


def exact(
    problem: Scheduling,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    backend: Backend | None = None,
    on_incumbent: Callable[[Incumbent], Any] | None = None,
    log: bool = False,
) -> Result[SchedulingSolution]:
    """Close in on the optimum from both sides, and prove it where they meet.

    1. Local search over orders of priority, and a linear program over configurations for the order of events
       that it found, give a schedule.
    2. The bucket relaxation on a grid of the times that matter gives a bound. Its reduced costs prove when a
       job cannot complete in any better schedule. Its completion times suggest an order of events, of which
       the linear program makes the best schedule.
    3. Up to 15 jobs, the model of positions (`milp`) is solved within what is left of the times at which jobs
       can complete. It has no grid, and so nothing to refine.
    4. For more jobs the relaxation is solved again with whole buckets, by branch and bound, the grid is refined
       by the times of all solutions, and 2. and 4. are repeated until bound and schedule meet.

    Every relaxation covers all schedules at least as good as the best one known, that one among them, so the
    smaller of its optimum and that schedule's value is a bound. That the loop ends is not proven; larger
    problems are left with a bracket at the time limit.

    Parameters
    ----------
    problem
        The problem.
    time_limit
        Seconds; None for none. The best schedule and bound until then are returned.
    gap
        Relative gap at which to stop.
    backend
        Solver of the relaxations with whole buckets; linear programs are solved by HiGHS.
    on_incumbent
        Called with each better schedule, as the completion times of the jobs by release date; returning True
        stops.
    log
        Stream the solver's log to standard error.

    Raises
    ------
    MissingSolver
        The backend's solver is not installed.

    Source: Ares, Eq. 1, for the problem; the method is gsopt's own.

    Examples
    --------
    >>> import gsopt
    >>> from gsopt.problems.scheduling import ElasticJob
    >>> jobs = [ElasticJob(name=n, release=0, work=w, rates={1: 1, 2: 1.5}) for n, w in [("a", 1), ("b", 3)]]
    >>> result = exact(Scheduling(gpus=2, jobs=jobs))
    >>> result.status, round(result.objective, 6)
    (<Status.OPTIMAL: 'optimal'>, 1.666667)
    """
    deadline = Deadline(time_limit)
    bracket = _Bracket(Instance.of(problem), deadline, gap, on_incumbent)
    try:
        stopped_by = _close(problem, bracket, backend or Highs(), log)
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return bracket.result(problem, stopped_by)


class _Bracket:
    """What is known: the best plan, a bound below, when jobs can complete, and the times that matter."""

    def __init__(
        self,
        instance: Instance,
        deadline: Deadline,
        gap: float,
        on_incumbent: Callable[[Incumbent], Any] | None,
    ) -> None:
        self.instance, self.deadline, self.gap, self.on_incumbent = instance, deadline, gap, on_incumbent
        jobs = range(len(instance))
        self.plan: Plan | None = None
        self.lower = sum(map(instance.earliest, jobs))
        self.spans: tuple[Spans, ...] = (((0.0, inf),),) * len(instance)
        self.times: set[float] = set(map(instance.earliest, jobs))
        self.cuts: list[Mapping[Item, float]] = []
        self.infeasible = ""
        self.technique = "bucket relaxations"
        self.asked_to_stop = False

    @property
    def upper(self) -> float:
        """Sum of completion times of the best plan."""
        return inf if self.plan is None else self.plan.total

    @property
    def open(self) -> float:
        """Gap relative to the value, in mean job completion times."""
        if self.plan is None:
            return inf
        return max(self.upper - self.lower, 0.0) / (self.upper - sum(self.instance.release))

    @property
    def finished(self) -> StoppedBy | None:
        """Why to stop now, if there is a reason."""
        if self.open <= _CLOSED or self.infeasible:
            return StoppedBy.FINISHED
        if self.asked_to_stop:
            return StoppedBy.INTERRUPT
        if self.open <= self.gap:
            return StoppedBy.GAP
        return StoppedBy.TIME_LIMIT if self.deadline.passed else None

    def take(self, plan: Plan | None) -> bool:
        """Keep a plan if it is the best; tell whether it is."""
        if plan is None:
            return False
        self.times.update(plan.completions)
        if plan.total >= self.upper * (1 - 1e-12):
            return False
        self.plan = plan
        if self.on_incumbent is not None:
            incumbent = Incumbent(
                np.array(plan.completions),
                objective=self.instance.mean_jct(plan.total),
                bound=self.instance.mean_jct(self.lower),
                runtime=self.deadline.runtime,
            )
            self.asked_to_stop = bool(self.on_incumbent(incumbent))
        return True

    def suggest(self, completions: Sequence[float]) -> bool:
        """Make the best of an order of events; tell whether that is better than what was known."""
        self.times.update(completions)
        order = event_order(self.instance, completions)
        known = [] if self.plan is None else [self.plan]
        return self.take(best_nearby_plan(self.instance, order, known=known, deadline=self.deadline))

    def cut(self, model: BucketModel, values: Reals) -> bool:
        """Cut off what the GPUs cannot do in some bucket; tell whether there was anything."""
        fresh = [prices for prices in model.overfull(values) if prices not in self.cuts]
        self.cuts += fresh
        return bool(fresh)

    def raise_bound(self, total: float) -> None:
        """Keep a bound on the sum of completion times of all schedules better than the best one known."""
        self.lower = max(self.lower, min(total, self.upper))

    def relaxation(self) -> BucketModel:
        """Make a relaxation of an affordable number of columns, on the finest grid that allows it."""
        model, shortest = self._relaxation(), _COARSER
        while model.size > _MOST_COLUMNS and shortest < 1:
            model = self._relaxation(shortest=shortest)
            shortest *= _GROWTH
        return model

    def _relaxation(self, **coarseness: float) -> BucketModel:
        grid = Grid.of(self.instance, self.times, self.spans, self.upper, **coarseness)
        return BucketModel(self.instance, grid, tuple(self.cuts))

    def result(self, problem: Scheduling, stopped_by: StoppedBy) -> Result[SchedulingSolution]:
        """Hand over what is known."""
        solution = None if self.plan is None else replayed(self.instance, self.plan.steps)
        value = None if solution is None else problem.objective(solution)
        bound = self.instance.mean_jct(self.lower)
        if value is not None:
            bound = value if self.open <= _CLOSED else min(bound, value)
        return Result.judged(
            problem,
            method="exact",
            solution=solution,
            bound=None if self.infeasible else bound,
            infeasible=bool(self.infeasible),
            stopped_by=stopped_by,
            solver="" if self.infeasible else "highs",
            message=self.infeasible or self.technique,
            runtime=self.deadline.runtime,
        )


def _close(problem: Scheduling, bracket: _Bracket, backend: Backend, log: bool) -> StoppedBy:
    """Close the bracket as far as the time allows."""
    _begin(problem, bracket)
    rounds = 0
    while (reason := bracket.finished) is None:
        rounds += 1
        model = _narrow(bracket)
        if rounds == 1 and bracket.finished is None and len(bracket.instance) <= _MOST_POSITIONS:
            if _solve_positions(problem, bracket, backend, log) is StoppedBy.INTERRUPT:
                return StoppedBy.INTERRUPT
            continue
        if bracket.finished is None:
            outcome = _solve(bracket, model, backend, log)
            if outcome.stopped_by is StoppedBy.INTERRUPT:
                return StoppedBy.INTERRUPT
        if rounds > 1:
            _split(bracket, model.grid)
    return reason


def _begin(problem: Scheduling, bracket: _Bracket) -> None:
    """Find a first plan and a first bound; with fair deadlines, find out whether there is any plan."""
    bracket.raise_bound(lower_bound(problem.workload, problem.gpus))
    if problem.fairness is not None:
        found = fairest(problem, bracket.deadline)
        if found is None:
            return
        if found.delay > problem.fairness * (1 + 1e-9) + 1e-9:
            bracket.infeasible = (
                f"in every schedule some job completes more than {problem.fairness:g} s after its fair share "
                f"would; the smallest fairness possible is {found.delay:g} s"
            )
            return
        bracket.suggest(found.plan.completions)
    for plan in good_plans(bracket.instance, bracket.deadline):
        bracket.take(plan)
        if bracket.asked_to_stop:
            return


def _narrow(bracket: _Bracket) -> BucketModel:
    """Solve linear relaxations while they lead to better plans, and narrow down when jobs can complete."""
    model = bracket.relaxation()
    for _ in range(_NARROWINGS):
        form = model.form(relaxed=True)
        outcome = Highs().solve(form, time_limit=bracket.deadline.left())
        if outcome.stopped_by is StoppedBy.INTERRUPT:
            raise KeyboardInterrupt
        if outcome.values is None or outcome.objective is None or outcome.duals is None:
            return model
        bracket.raise_bound(model.seconds(outcome.objective))
        bracket.spans = model.narrowed(form, outcome)
        better = bracket.suggest(model.completions(outcome.values))
        overfull = bracket.cut(model, outcome.values)
        if bracket.finished is not None:
            return model
        model = bracket.relaxation()
        if not (better or overfull):
            return model
    return model


def _solve_positions(problem: Scheduling, bracket: _Bracket, backend: Backend, log: bool) -> StoppedBy:
    """Solve the model of positions within the times at which jobs can complete."""
    instance = bracket.instance
    ends = [spans[-1][1] * (1 + _WIDER) for spans in bracket.spans]
    narrow = replace(instance, deadline=tuple(min(pair) for pair in zip(instance.deadline, ends, strict=True)))
    known = None
    if bracket.plan is not None:
        solution = replayed(instance, bracket.plan.steps)
        known = Known(solution, problem.objective(solution))
    positions = Positions.of(problem, narrow, bracket.upper)
    if positions.contradict:  # only by rounding
        return StoppedBy.FINISHED
    search = Search(problem, positions, known, bracket.deadline, bracket.gap)
    try:
        search.run(partial(backend.solve, gap=bracket.gap, log=log))
    except Unsupported:  # too many times of modes, or times too different in scale
        return StoppedBy.FINISHED
    bracket.technique = "model of positions"
    bracket.raise_bound(search.bound * len(instance) + sum(instance.release))
    if search.known is not None and search.known is not known:
        completions: dict[str, float] = {}
        for run in search.known.solution.runs:
            completions[run.job] = max(run.end, completions.get(run.job, 0.0))
        bracket.suggest([completions[name] for name in instance.names])
    return search.stopped_by


def _solve(bracket: _Bracket, model: BucketModel, backend: Backend, log: bool) -> Outcome:
    """Solve a relaxation with whole buckets, and make the best of its order of events."""
    outcome = backend.solve(
        model.form(),
        time_limit=bracket.deadline.left(),
        gap=bracket.gap / 2,
        start=None if bracket.plan is None else model.point(bracket.plan),
        log=log,
    )
    if outcome.bound is not None:
        bracket.raise_bound(model.seconds(outcome.bound))
    if outcome.values is not None:
        bracket.suggest(model.completions(outcome.values))
        bracket.cut(model, outcome.values)
    return outcome


def _split(bracket: _Bracket, grid: Grid) -> None:
    """Halve the buckets in which, or next to which, jobs of the best plan complete."""
    times = grid.times
    for time in bracket.plan.completions if bracket.plan else ():
        after = bisect_left(times, time)
        for left, right in zip(times[after - 1 : after + 1], times[after : after + 2], strict=False):
            bracket.times.add((left + right) / 2)
