"""Split: fixed GPUs for jobs with given starts and run times, so that no job has to move."""

from collections.abc import Iterator, Sequence

from formulations.common.rows import SparseRows
from formulations.waiting.instance import SlottedInstance, SlottedRun
from gsopt.core.budget import Budget
from gsopt.core.result import Status, StoppedBy
from gsopt.solvers.backends import Outcome, solver_of
from gsopt.solvers.standard_form import StandardForm


def find_split(
    instance: SlottedInstance, choices: Sequence[SlottedRun], budget: Budget
) -> list[SlottedRun] | None:
    """Assign each job fixed numbers of GPUs per cell, or return None if no such numbers are found.

    The numbers stay the same for the job's whole run. A job may use any place where its run time is at most
    that at the chosen place.

    Sets: jobs j; the places P that give each job at most its chosen run time; cells m; the starts t of all
    jobs. Parameters: d_j: GPUs of a job; G_m: GPUs of a cell; the jobs that run at each t. Variables: y_jP = 1
    if job j is at place P; c_jm: its GPUs of cell m, the same from start to end. Objective: none. Constraints:
    sum_P y_jP = 1; sum_m c_jm = d_j; c_jm <= min(d_j, G_m) sum_{P with m} y_jP; sum of c_jm over the jobs that
    run at t is at most G_m. Size: a column for each job and place and for each job and cell; two rows for
    each job, and at most two for each job and cell. Source: gsopt's own; a schedule with counted GPUs needs
    this check.
    """
    form, names = _model(instance, choices, range(len(choices)))
    outcome = _solve(form, budget)
    if outcome.values is None:
        return None
    counts: list[dict[int, int]] = [{} for _ in choices]
    for (job, cell), value in zip(names, outcome.values.tolist(), strict=False):
        if round(value):
            counts[job][cell] = round(value)
    return [choice._replace(counts=own) for choice, own in zip(choices, counts, strict=True)]


def find_conflict(instance: SlottedInstance, choices: Sequence[SlottedRun], budget: Budget) -> list[int] | None:
    """Find a small set of jobs for which `find_split` has no solution, even if no other jobs run.

    Returns None unless it is proven in time that no solution exists for all jobs together.
    """
    needed = list(range(len(choices)))
    if not _is_impossible(instance, choices, needed, budget):
        return None
    for job in range(len(choices)):
        fewer = [other for other in needed if other != job]
        if _is_impossible(instance, choices, fewer, budget):
            needed = fewer
    return needed


def _is_impossible(
    instance: SlottedInstance, choices: Sequence[SlottedRun], jobs: Sequence[int], budget: Budget
) -> bool:
    if not jobs or budget.passed:
        return False
    return _solve(_model(instance, choices, jobs)[0], budget).status is Status.INFEASIBLE


def _solve(form: StandardForm, budget: Budget) -> Outcome:
    outcome = solver_of(budget).solve(form, time_limit=budget.left(), log=budget.log)
    if outcome.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    return outcome


def _model(
    instance: SlottedInstance, choices: Sequence[SlottedRun], jobs: Sequence[int]
) -> tuple[StandardForm, list[tuple[int, int]]]:
    """Return the model for the given jobs, and the job and cell of each of its first columns."""
    cells = range(len(instance.sizes))
    held = [(job, cell) for job in jobs for cell in cells]
    placed = [(job, place) for job in jobs for place in _as_fast(instance, job, choices[job].place)]
    count_of = {pair: index for index, pair in enumerate(held)}
    place_of = {pair: len(held) + index for index, pair in enumerate(placed)}
    rows = SparseRows()
    for job in jobs:
        own = [place for each, place in placed if each == job]
        need = float(instance.demand[job])
        rows.add(f"place[{job}]", ((place_of[job, place], 1.0) for place in own), 1.0, 1.0)
        rows.add(f"demand[{job}]", ((count_of[job, cell], 1.0) for cell in cells), need, need)
        for cell in cells:
            most = -min(need, float(instance.sizes[cell]))
            around = [(place_of[job, p], most) for p in own if cell in instance.places[p].cells]
            rows.add(f"inside[{job},{cell}]", [(count_of[job, cell], 1.0), *around], upper=0.0)
    for number, running in enumerate(_together(instance, choices, jobs)):
        for cell in cells:
            held_there = ((count_of[job, cell], 1.0) for job in running)
            rows.add(f"room[{number},{cell}]", held_there, upper=instance.sizes[cell])
    width = len(held) + len(placed)
    form = StandardForm.build(
        cost=[0.0] * width,
        matrix=rows.matrix(width),
        row_lower=rows.lower,
        row_upper=rows.upper,
        column_upper=[float(min(instance.demand[j], instance.sizes[m])) for j, m in held] + [1.0] * len(placed),
    )
    return form, held


def _as_fast(instance: SlottedInstance, job: int, chosen: int) -> Iterator[int]:
    """Yield the places at which a job's run time is at most that at the chosen one."""
    run = instance.seconds[job]
    for place in instance.places_of(job):
        if run[instance.places[place].tier] <= run[instance.places[chosen].tier]:
            yield place


def _together(instance: SlottedInstance, choices: Sequence[SlottedRun], jobs: Sequence[int]) -> list[list[int]]:
    """Return, for each distinct start, the jobs that run at that time."""
    spans = {job: (choices[job].start, _end(instance, job, choices[job])) for job in jobs}
    found = [
        [job for job, (begin, end) in spans.items() if begin <= start < end]
        for start in sorted({start for start, _ in spans.values()})
    ]
    return [running for running in found if running]


def _end(instance: SlottedInstance, job: int, choice: SlottedRun) -> int:
    return choice.start + instance.length(job, choice.place)
