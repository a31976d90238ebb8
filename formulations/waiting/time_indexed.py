"""Time-indexed: the relaxation with counted GPUs, followed by a search for GPUs that each job can keep."""

from dataclasses import replace

import numpy as np

from formulations.common.duals import prove
from formulations.common.prover import Prover
from formulations.waiting.best import BestRuns
from formulations.waiting.instance import SlottedInstance, SlottedRun
from formulations.waiting.latest import latest_ends
from formulations.waiting.listing import search_lists, try_order
from formulations.waiting.relaxation import Relaxation
from formulations.waiting.simple_bounds import bound_at_once
from formulations.waiting.split import find_conflict, find_split
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.numbers.tolerances import PROBED
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.waiting import Waiting, WaitingSolution
from gsopt.solvers.backends import Highs, solver_of
from gsopt.solvers.scaling import optimize
from gsopt.solvers.standard_form import LARGEST_BIG_M, StandardForm

#: Maximum number of entries in the capacity rows, with the original slots and with longer ones. The second
#: limit is lower, because longer slots prove less and deserve less time.
_MOST_ENTRIES, _MOST_COARSE = 2_000_000, 200_000

#: Outcomes of the relaxation: nothing better than the list schedules; a schedule of the problem; only a bound.
_LISTS = "the best list"
_EXACT = "exact: GPUs were found for the schedule of the relaxation"
_BOUND = "the relaxation is a bound only"


@exact_method()
def time_indexed(problem: Waiting, budget: Budget) -> Result[WaitingSolution]:
    """Solve the time-indexed relaxation, and look for GPUs that each job of its schedule can keep.

    The method begins with list schedules and a simple bound. The relaxation (`Relaxation`) only counts the GPUs
    in use. In its schedule, jobs may have to move to other GPUs, so its optimum is a bound. If all jobs can
    keep their GPUs (`find_split`), this schedule is optimal. Otherwise, the best known schedule is returned
    with the bound. The message says which case applies; it is ``the best list`` if the method stops earlier.

    If there are too many slots, longer ones are used, and times are rounded down. The optimum is then still a
    bound, but its schedule need not be optimal.

    Source: the model as in `Relaxation`; the split as in `find_split`.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, backend, start, callback and log.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=10, gpus=2, model="alexnet") for n in "abc"]
    >>> result = time_indexed(Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=3), jobs=jobs))
    >>> result.status, result.objective, result.message
    (<Status.OPTIMAL: 'optimal'>, Fraction(202, 15), 'the best list')
    """
    best = BestRuns(SlottedInstance.of(problem), budget, "time_indexed")
    message = _LISTS
    try:
        bound_at_once(best)
        search_lists(best)
        if not best.finished:
            message = solve_relaxation(best)
        stopped_by = best.finished or StoppedBy.FINISHED
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return best.result(stopped_by, solver=solver_of(best.budget).name, message=message)


def solve_relaxation(best: BestRuns, share: float = 1.0, conflicts: float = 0) -> str:
    """Solve the relaxation, raise the bound, look for GPUs that each job can keep, and return a message.

    If no such GPUs are found for the relaxation's schedule, `find_conflict` looks for a few jobs whose starts
    and run times already make that impossible. A new row requires that at least one of these jobs gets a
    different start or run time, and the relaxation is solved again, at most `conflicts` times. All this takes
    at most the fraction `share` of the remaining time.
    """
    left = best.budget.left()
    budget = best.budget if left is None else best.budget.within(share * left)
    model = model_of(best)
    form = None if budget.passed else narrowed(model, best, budget)
    while form is not None and not best.finished:
        relaxed = _solve(model, form, best, budget)
        if relaxed is None or best.finished:
            break
        split = find_split(model.instance, relaxed, budget)
        if split is not None:
            best.take(model.instance.solution(split))
            return _EXACT if best.finished is StoppedBy.FINISHED else _BOUND
        try_order(best, relaxed)
        conflict = find_conflict(model.instance, relaxed, budget) if conflicts > 0 else None
        if conflict is None:
            return f"{_BOUND}: no GPUs were found for its schedule"
        form, conflicts = model.without(form, relaxed, conflict), conflicts - 1
    return _LISTS


def _solve(model: Relaxation, form: StandardForm, best: BestRuns, budget: Budget) -> list[SlottedRun] | None:
    """Solve the relaxation, raise the bound, and return its schedule, or None if no optimum was found."""
    start = model.point(model.instance.choices(best.known))
    asked = replace(budget, backend=budget.backend or Prover(), on_incumbent=None, start=None)
    proof = optimize(
        form,
        asked,
        costs=model.costs,
        start=start if form.is_feasible(start) else None,
        on_bound=None if budget.on_progress is None else best.raise_bound,
    )
    if proof.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    if proof.bound is not None:
        best.raise_bound(proof.bound)
    if proof.values is None or proof.status is not Status.OPTIMAL:
        return None
    return model.choices(proof.values)


def narrowed(model: Relaxation, best: BestRuns, budget: Budget) -> StandardForm:
    """Fix columns at 0 if their reduced costs show that no better schedule uses them, and return the model."""
    form = model.form()
    outcome = Highs().solve(form.relaxation, time_limit=budget.left(), log=budget.log)
    if outcome.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    if outcome.duals is None or best.value is None:
        return form
    task = Highs().request(form.relaxation, time_limit=None, gap=0.0, start=None)[1]
    largest = np.minimum(form.column_upper, float(best.value / model.instance.slot) + 1)
    proof = prove(task.model, outcome.duals, largest)
    best.raise_bound(proof.bound)
    needless = proof.bound + proof.reduced > float(best.value) * (1 + PROBED)
    start = model.point(model.instance.choices(best.known))
    return form.with_bounds(form.column_lower, np.where(needless & (start == 0), 0.0, form.column_upper))


def model_of(best: BestRuns) -> Relaxation:
    """Return a relaxation that admits all schedules at least as good as the best known one.

    If there would be too many slots for a solver, longer ones are used.
    """
    if best.value is None:
        raise AssertionError  # lists find a schedule
    latest = latest_ends(best.instance, best.value)
    model, factor = Relaxation(best.instance, latest), 1
    if model.entries <= _MOST_ENTRIES and model.horizon <= LARGEST_BIG_M:
        return model
    while model.entries > _MOST_COARSE or model.horizon > LARGEST_BIG_M:
        factor *= 2
        model = Relaxation(best.instance.coarser(factor), latest)
    return model
