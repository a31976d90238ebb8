"""Retiming: the conversion of a schedule with rounded times into an exact one with times in integer ticks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, lcm, log10
from typing import NamedTuple

from gsopt.core.numbers.grid import Exact, Number, decimal
from gsopt.core.numbers.tolerances import TICK


@dataclass(frozen=True)
class ElasticTask:
    """An elastic job in exact numbers."""

    name: str
    release: Exact  # seconds after the first release date
    work: Exact
    rates: Mapping[int, Exact]  # work per second by number of GPUs, for the numbers that fit the cluster

    @cached_property
    def fastest(self) -> int:
        """The smallest number of GPUs on which the job reaches its highest speed."""
        highest = max(self.rates.values())
        return min(gpus for gpus, rate in self.rates.items() if rate == highest)

    @cached_property
    def height(self) -> Exact:
        """The shortest time in which the job can complete, in seconds."""
        return Fraction(self.work) / self.rates[self.fastest]


class TaskStretch(NamedTuple):
    """A job on a constant number of GPUs from `start` to `end`, in seconds after the first release date."""

    job: str
    start: Number
    end: Number
    gpus: int


#: The index of a run, its job, and its number of GPUs.
_Held = tuple[int, int, int]


class _Pace(NamedTuple):
    """A task in integers: its release date in ticks, its work, and its speeds in work per tick."""

    release: int
    work: int
    speeds: Mapping[int, int]


def tick_of(tasks: Sequence[ElasticTask]) -> Fraction:
    """Return the length of a tick in seconds: a power of ten, negligible compared with the shortest job."""
    return Fraction(10) ** floor(log10(TICK * float(min(task.height for task in tasks))))


def retimed(tasks: Sequence[ElasticTask], gpus: int, runs: Iterable[TaskStretch]) -> list[TaskStretch]:
    """Return the runs, job by job, with times that satisfy every rule of a plain cluster exactly.

    The starts and ends of the runs divide time into steps, which keep their order. A step may become longer: it
    lasts until all jobs of the next step are released, and until the jobs that run for the last time have done
    their work. A job stops in the tick in which its work is done. A job that is too short for the clock of the
    runs, and therefore has no run, runs at its highest speed once it is released, while all other jobs wait.
    Completion times exceed those of the runs by at most the errors of the runs, a few ticks per step, and the
    run times of such short jobs.
    """
    tick = tick_of(tasks)
    paces = [_pace(task, tick) for task in tasks]
    steps = _steps(tasks, gpus, runs, tick)
    begins = [max((paces[job].release for job in held), default=0) for _, held in steps]
    last = {job: index for index, (_, held) in enumerate(steps) for job in held}
    left = [pace.work for pace in paces]
    own: list[list[tuple[int, int, int]]] = [[] for _ in tasks]
    now = begins[0]
    for index, ((planned, held), following) in enumerate(zip(steps, [*begins[1:], 0], strict=True)):
        needed = {job: -(-left[job] // paces[job].speeds[count]) for job, count in held.items()}
        length = max([planned, following - now, *(needed[job] for job in held if last[job] == index)])
        for job, count in held.items():
            ticks = min(length, needed[job])
            left[job] -= ticks * paces[job].speeds[count]
            if ticks > 0:
                _append(own[job], (now, now + ticks, count))
        now += length
    return [
        TaskStretch(task.name, start * tick, end * tick, count)
        for task, pieces in zip(tasks, own, strict=True)
        for start, end, count in pieces
    ]


def _pace(task: ElasticTask, tick: Fraction) -> _Pace:
    speeds = {gpus: Fraction(rate * tick) for gpus, rate in task.rates.items()}
    unit = lcm(Fraction(task.work).denominator, *(speed.denominator for speed in speeds.values()))
    integers = {gpus: int(speed * unit) for gpus, speed in speeds.items()}
    return _Pace(ceil(task.release / tick), int(task.work * unit), integers)


def _steps(
    tasks: Sequence[ElasticTask], gpus: int, runs: Iterable[TaskStretch], tick: Fraction
) -> list[tuple[int, dict[int, int]]]:
    """Return the length in ticks of each step between two events, and the number of GPUs of each running job.

    If, because of rounded end times, jobs would hold too many GPUs in a step, no job runs in it, and the
    missing work is done later.
    """
    number = {task.name: job for job, task in enumerate(tasks)}
    starting, ending = defaultdict[int, list[_Held]](list), defaultdict[int, list[_Held]](list)
    for index, run in enumerate(runs):
        start, end = (round(decimal(time) / tick) for time in (run.start, run.end))
        if start < end:
            starting[start].append((index, number[run.job], run.gpus))
            ending[end].append((index, number[run.job], run.gpus))
    there = {job for begun in starting.values() for _, job, _ in begun}
    alone = {job: ceil(task.release / tick) for job, task in enumerate(tasks) if job not in there}
    found: list[tuple[int, int, dict[int, int]]] = []
    running: dict[int, tuple[int, int]] = {}
    times = sorted({0, *starting, *ending, *alone.values()})
    for time, following in pairwise(times):
        for index, _, _ in ending[time]:
            del running[index]
        running.update((index, (job, count)) for index, job, count in starting[time])
        held = dict(running.values())
        found.append((time, following - time, held if sum(held.values()) <= gpus else {}))
    there = {job for _, _, held in found for job in held}
    missed = sorted(set(range(len(tasks))) - there)
    found += [(ceil(tasks[job].release / tick), -1, {job: tasks[job].fastest}) for job in missed]
    found.sort(key=lambda step: step[:2])
    return [(max(length, 0), held) for _, length, held in found]


def _append(pieces: list[tuple[int, int, int]], piece: tuple[int, int, int]) -> None:
    """Add a piece, or extend the previous one if there is no gap."""
    start, end, gpus = piece
    if pieces and pieces[-1][1:] == (start, gpus):
        start = pieces.pop()[0]
    pieces.append((start, end, gpus))
