"""Launch order: the best schedule of resizable jobs for an order of starts and completions."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import floor
from typing import NamedTuple

import numpy as np

from formulations.scheduling.resizing.jobs import Resizable
from formulations.scheduling.timetable import TimetableStep
from gsopt.core.numbers.tolerances import LEAST_TOLERANCE, LINEAR_ROWS


class Event(NamedTuple):
    """The start or the completion of a job."""

    job: int
    starts: bool


def events_of(plan: Sequence[TimetableStep]) -> list[Event]:
    """Return the order of events of a plan, with completions first among simultaneous events."""
    before: Mapping[int, int] = {}
    events: list[Event] = []
    for _, gpus in [*plan, TimetableStep(0.0, {})]:
        events += [Event(job, starts=False) for job in before if job not in gpus]
        events += [Event(job, starts=True) for job in gpus if job not in before]
        before = gpus
    return events


def best_steps(jobs: Resizable, order: Sequence[Event]) -> list[TimetableStep] | None:
    """Return the plan with the minimum sum of completion times for an order of events, or None if infeasible.

    A linear program determines the time between consecutive events, and each running job's GPU-seconds in
    between. If shares of GPUs are not averages of numbers of workers (`Resizable.is_exact`), they are rounded,
    and the plan may take longer.
    """
    running = list(_running(order))
    cells = [(piece, job) for piece, there in enumerate(running) for job in there]
    starts = {job: piece for piece, (job, begins) in enumerate(order) if begins}
    found = _solve(jobs, running, cells, starts)
    if found is None:
        return None
    lengths, amounts = found[: len(running)], dict(zip(cells, found[len(running) :], strict=True))
    steps: list[TimetableStep] = []
    for piece, there in enumerate(running):
        if lengths[piece] > LEAST_TOLERANCE:
            if sum(jobs.least[job] for job in there) > jobs.gpus:  # together only by the program's tolerance
                return None
            # In a piece hardly longer than the tolerance shares are beyond what a job can have.
            shares = {
                job: min(max(amounts[piece, job] / lengths[piece], jobs.least[job]), jobs.most[job])
                for job in there
            }
            steps += _realised(jobs, shares, lengths[piece] * jobs.unit)
    return steps


def _running(order: Sequence[Event]) -> Iterator[list[int]]:
    """Yield the jobs that run before the first event, and between each event and the next one."""
    there: list[int] = []
    yield there
    for job, starts in order[:-1]:
        there = [*there, job] if starts else [other for other in there if other != job]
        yield there


def _solve(
    jobs: Resizable,
    running: Sequence[Sequence[int]],
    cells: Sequence[tuple[int, int]],
    starts: Mapping[int, int],
) -> list[float] | None:
    """Return the lengths of pieces in units of time, and then the work in cells in GPUs times units of time.

    Returns None if the order of events is infeasible.
    """
    from scipy.optimize import linprog

    pieces, column = len(running), {cell: len(running) + index for index, cell in enumerate(cells)}
    width, scale = pieces + len(cells), jobs.unit * jobs.gpus
    last = {job: piece for piece, job in cells}
    cost = np.zeros(width)
    for piece in range(pieces):
        cost[piece] = sum(end >= piece for end in last.values())
    released = [(job, date / jobs.unit) for job, date in enumerate(jobs.instance.release) if date > 0]
    most = np.zeros((pieces + 2 * len(cells) + len(released), width))
    limits = np.zeros(len(most))
    for piece, job in cells:
        most[piece, column[piece, job]] = 1.0
    most[range(pieces), range(pieces)] = -1.0
    for index, (piece, job) in enumerate(cells):
        low, high = pieces + 2 * index, pieces + 2 * index + 1
        most[low, [piece, column[piece, job]]] = jobs.least[job] / jobs.gpus, -1.0
        most[high, [piece, column[piece, job]]] = -jobs.most[job] / jobs.gpus, 1.0
    for row, (job, date) in enumerate(released, start=pieces + 2 * len(cells)):
        most[row, : starts[job] + 1], limits[row] = -1.0, -date
    work = np.zeros((len(jobs), width))
    for piece, job in cells:
        work[job, column[piece, job]] = 1.0
    answer = linprog(
        cost,
        A_ub=most,
        b_ub=limits,
        A_eq=work,
        b_eq=[area / scale for area in jobs.area],
        method="highs",
        options={"primal_feasibility_tolerance": LEAST_TOLERANCE},
    )
    return (
        None
        if answer.x is None
        else [float(value) * (jobs.gpus if i >= pieces else 1.0) for i, value in enumerate(answer.x)]
    )


def _realised(jobs: Resizable, shares: Mapping[int, float], length: float) -> Iterator[TimetableStep]:
    """Yield steps in which jobs have the given shares of the GPUs on average, in whole workers.

    Each job always has the whole workers of its share. The fractional workers take turns on the remaining GPUs
    by McNaughton's wrap-around rule. Each fraction is below 1, so no job has two of them at a time.
    """
    count = {
        job: floor((share - jobs.least[job]) / jobs.size[job] + LINEAR_ROWS) for job, share in shares.items()
    }
    base = {job: jobs.least[job] + max(more, 0) * jobs.size[job] for job, more in count.items()}
    free = jobs.gpus - sum(base.values())
    if not jobs.is_exact:
        yield TimetableStep(length, _rounded(jobs, shares, base, free))
        return
    place, spans = 0.0, list[tuple[int, float, float]]()
    for job, share in shares.items():
        part = min(max((share - base[job]) / jobs.size[job], 0.0), free / jobs.grid - place)
        if part > LINEAR_ROWS and base[job] < jobs.most[job]:
            spans.append((job, place, place + part))
            place += part
    cuts = sorted({0.0, 1.0, *(end % 1.0 for _, *span in spans for end in span)})
    for begin, end in pairwise(cuts):
        middle = (begin + end) / 2
        more = {
            job
            for (job, first, last), turn in product(spans, range(len(shares) + 1))
            if first < middle + turn < last
        }
        yield TimetableStep(
            length * (end - begin), {job: gpus + (job in more) * jobs.size[job] for job, gpus in base.items()}
        )


def _rounded(
    jobs: Resizable, shares: Mapping[int, float], base: Mapping[int, int], free: int
) -> dict[int, int]:
    """Assign one more worker to the jobs that lack the largest fractions of one, as long as GPUs are free."""
    gpus = dict(base)
    for job in sorted(shares, key=lambda job: (base[job] - shares[job]) / jobs.size[job]):
        if shares[job] > base[job] and jobs.size[job] <= min(free, jobs.most[job] - base[job]):
            gpus[job] += jobs.size[job]
            free -= jobs.size[job]
    return gpus
