"""Timetable: conversions between plans of configurations and schedules that the judge accepts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import fsum, inf
from typing import NamedTuple

from formulations.scheduling.instance import Instance
from gsopt.core.numbers.clock import clock_error
from gsopt.core.numbers.grid import Number, decimal
from gsopt.core.numbers.tolerances import SPAN_ERROR, WORK_DONE
from gsopt.problems.scheduling import SchedulingSolution
from gsopt.schedule.retiming import TaskStretch


class TimetableStep(NamedTuple):
    """A configuration and its duration."""

    duration: float  # seconds
    gpus: Mapping[int, int]  # GPUs of each job that runs, by its number


class ScheduledPiece(NamedTuple):
    """A job (by number) on a fixed number of GPUs from start to end, in seconds on the instance's clock."""

    job: int
    start: float
    end: float
    gpus: int


@dataclass(frozen=True)
class Timetable:
    """A schedule on the clock of an instance."""

    instance: Instance  # the jobs
    pieces: tuple[ScheduledPiece, ...]  # the pieces, job by job in chronological order
    completions: tuple[float, ...]  # completion time of each job; infinite if its work is not done

    @property
    def total(self) -> float:
        """The sum of the completion times."""
        return fsum(self.completions)

    @property
    def solution(self) -> SchedulingSolution:
        """The schedule as a solution on the problem's clock.

        Pieces that are shorter than a tick of this clock may be left out.
        """
        names = self.instance.names
        return self.instance.problem.made_of(
            [TaskStretch(names[job], start, end, gpus) for job, start, end, gpus in self.pieces]
        )


def replay(instance: Instance, plan: Sequence[TimetableStep]) -> Timetable:
    """Replay a plan step by step from the first release date, correcting its rounding errors.

    A program's plan is only feasible within a tolerance. In the replay, a step begins no earlier than its jobs
    are released, and a job stops as soon as its work is done. A job's last step lasts until its work is done.
    So completion times differ slightly from those of the plan. Steps shorter than a billionth of the shortest
    job are dropped. A job that is in no step does not complete.
    """
    shortest = min(map(instance.height, range(len(instance))))
    steps = [step for step in plan if step.duration > SPAN_ERROR * shortest]
    last = {job: index for index, step in enumerate(steps) for job in step.gpus}
    rates = [{mode.gpus: mode.rate for mode in modes} for modes in instance.modes]
    left = list(instance.work)
    pieces: list[list[ScheduledPiece]] = [[] for _ in instance.names]
    completions = [inf] * len(instance)
    now = 0.0
    for index, (planned, gpus) in enumerate(steps):
        now = max([now, *(instance.release[job] for job in gpus)])
        needed = {job: left[job] / rates[job][count] for job, count in gpus.items()}
        duration = max([planned, *(seconds for job, seconds in needed.items() if last[job] == index)])
        for job, count in gpus.items():
            if left[job] <= WORK_DONE * instance.work[job]:
                continue
            end = now + min(duration, needed[job])
            left[job] = max(left[job] - duration * rates[job][count], 0.0)
            _append(pieces[job], ScheduledPiece(job, now, end, count))
            if left[job] <= WORK_DONE * instance.work[job]:
                completions[job] = end
        now += duration
    return Timetable(instance, tuple(piece for own in pieces for piece in own), tuple(completions))


def timetable_of(instance: Instance, solution: SchedulingSolution) -> Timetable:
    """Convert a schedule to an instance's clock without a replay; each job completes when its last run ends."""
    number = {name: job for job, name in enumerate(instance.names)}
    completions = [0.0] * len(instance)
    pieces = []
    origin = instance.problem.origin
    for run in solution.runs:
        start, end = (float(decimal(time) - origin) for time in (run.start, run.end))
        piece = ScheduledPiece(number[run.job], start, end, run.gpus)
        pieces.append(piece)
        completions[piece.job] = max(completions[piece.job], piece.end)
    return Timetable(instance, tuple(sorted(pieces)), tuple(completions))


def steps_of(instance: Instance, solution: SchedulingSolution) -> list[TimetableStep]:
    """Return the steps of a schedule.

    If a job is no faster on its GPUs than on fewer GPUs, it counts as running on the smaller number. Times that
    differ only by the rounding of floats count as equal.
    """
    number = {name: job for job, name in enumerate(instance.names)}
    starting, ending = defaultdict[Number, list[int]](list), defaultdict[Number, list[int]](list)
    for index, run in enumerate(solution.runs):
        starting[decimal(run.start)].append(index)
        ending[decimal(run.end)].append(index)
    times = sorted({instance.problem.origin, *starting, *ending})
    is_exact = any(isinstance(time, Fraction) for run in solution.runs for time in (run.start, run.end))
    ticks = 0.0 if is_exact else clock_error(float(times[-1]), 0)
    held: dict[int, tuple[int, int]] = {}
    steps: list[TimetableStep] = []
    for time, following in pairwise(times):
        for index in ending[time]:
            del held[index]
        for index in starting[time]:
            run = solution.runs[index]
            job = number[run.job]
            held[index] = job, max(mode.gpus for mode in instance.modes[job] if mode.gpus <= run.gpus)
        if following - time > ticks:
            steps.append(TimetableStep(float(following - time), dict(held.values())))
    return steps


def steps_of_pieces(timetable: Timetable) -> tuple[TimetableStep, ...]:
    """Return the steps of a timetable."""
    changes: list[tuple[float, int, int]] = []  # what ends at a time stands before what begins
    for piece in timetable.pieces:
        changes += [(piece.start, piece.gpus, piece.job), (piece.end, 0, piece.job)]
    changes.sort()
    now, held = 0.0, dict[int, int]()
    steps: list[TimetableStep] = []
    for time, gpus, job in changes:
        if time > now:
            steps.append(TimetableStep(time - now, dict(held)))
            now = time
        if gpus:
            held[job] = gpus
        else:
            del held[job]
    return tuple(steps)


def _append(pieces: list[ScheduledPiece], piece: ScheduledPiece) -> None:
    """Append a piece, merging it with the previous one if they are adjacent and equal."""
    if piece.end <= piece.start:  # shorter than the clock can tell
        return
    if pieces and (pieces[-1].end, pieces[-1].gpus) == (piece.start, piece.gpus):
        piece = piece._replace(start=pieces.pop().start)
    pieces.append(piece)
