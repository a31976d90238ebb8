"""Listing: schedules that follow from lists of segments, made without compiled kernels."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf
from operator import itemgetter
from typing import Protocol

from formulations.scheduling.instance import Instance
from formulations.scheduling.segments import POWER, Segments
from formulations.scheduling.timetable import ScheduledPiece, Timetable
from gsopt.core.numbers.tolerances import WORK_DONE

#: GPUs and speed of each running job, keyed by job.
_Held = dict[int, tuple[int, float]]


def serve_list(instance: Instance, segments: Segments, names: Iterable[int]) -> Timetable:
    """Serve jobs by a list: at each arrival and completion, segments get their GPUs in the list's order.

    The list names each job as often as it has segments (`Segments`). At each of its occurrences, a job that is
    present gets its next segment if enough GPUs are free.
    """
    return _schedule(instance, segments, _Listed(names, len(instance)))


def serve_by_rest(instance: Instance, segments: Segments, sizes: Iterable[float]) -> Timetable:
    """Serve jobs in the order of `Segments.by_size`, where each job's size shrinks with its remaining work.

    For rigid jobs, this is the ascending order of remaining area or remaining time, as in online policies.
    `sizes` are the areas (GPU-seconds) or times (seconds) of the jobs when they are released.
    """
    return _schedule(instance, segments, _Ranked(segments, sizes))


class _Queue(Protocol):
    """The jobs present, in the order in which they are served."""

    def arrive(self, job: int) -> None:
        """Add a job."""
        ...

    def work(self, job: int, left: float) -> None:
        """Update the remaining fraction of a job's work."""
        ...

    def leave(self, jobs: set[int]) -> None:
        """Remove the given jobs."""
        ...

    def __iter__(self) -> Iterator[int]: ...


class _Listed:
    """A queue in the order of a list."""

    def __init__(self, names: Iterable[int], jobs: int) -> None:
        self._names, self._waiting = list(names), list[int]()
        self._places = [list[int]() for _ in range(jobs)]
        for place, job in enumerate(self._names):
            self._places[job].append(place)

    def arrive(self, job: int) -> None:
        for place in self._places[job]:
            insort(self._waiting, place)

    def work(self, job: int, left: float) -> None:
        """Do nothing, because the order of a list does not depend on the remaining work."""

    def leave(self, jobs: set[int]) -> None:
        self._waiting = [place for place in self._waiting if self._names[place] not in jobs]

    def __iter__(self) -> Iterator[int]:
        return (self._names[place] for place in self._waiting)


class _Ranked:
    """A queue in the order of an index that depends on the remaining work."""

    def __init__(self, segments: Segments, sizes: Iterable[float]) -> None:
        indices = (-(segments.relative_efficiency**POWER)).tolist()
        self._indices = [indices[first:after] for first, after in pairwise(segments.first.tolist())]
        self._sizes = list(sizes)
        self._waiting: list[tuple[float, int]] = []
        self._own: dict[int, list[tuple[float, int]]] = {}

    def arrive(self, job: int) -> None:
        self._own[job] = []
        self.work(job, 1.0)

    def work(self, job: int, left: float) -> None:
        self._remove(job)
        self._own[job] = [(index / (left * self._sizes[job]), job) for index in self._indices[job]]
        for entry in self._own[job]:
            insort(self._waiting, entry)

    def leave(self, jobs: set[int]) -> None:
        for job in jobs:
            self._remove(job)

    def _remove(self, job: int) -> None:
        for entry in self._own.pop(job):
            del self._waiting[bisect_left(self._waiting, entry)]

    def __iter__(self) -> Iterator[int]:
        return (job for _, job in self._waiting)


def _schedule(instance: Instance, segments: Segments, queue: _Queue) -> Timetable:
    """Serve a queue at each arrival and completion, and return the timetable."""
    ladders, log, left = _ladders(segments), _Log(len(instance)), list(instance.work)
    there, coming, now = 0, 0, 0.0
    dates = [*instance.release, inf]
    while there or coming < len(instance):
        now = now if there else dates[coming]
        while dates[coming] <= now:
            queue.arrive(coming)
            there += 1
            coming += 1
        running = _serve(segments, ladders, queue)
        log.change(running, now)
        seconds = min(left[job] / rate for job, (_, rate) in running.items())
        now, seconds = min((dates[coming], dates[coming] - now), (now + seconds, seconds), key=itemgetter(0))
        done = _work(instance, left, running, seconds)
        log.complete(done, now)
        queue.leave(done)
        there -= len(done)
        for job in running.keys() - done:
            queue.work(job, left[job] / instance.work[job])
    return Timetable(instance, tuple(sorted(log.pieces)), tuple(log.completions))


class _Log:
    """The pieces that have run so far, and the jobs that are running."""

    def __init__(self, jobs: int) -> None:
        self.pieces: list[ScheduledPiece] = []
        self.completions = [inf] * jobs
        self._held: dict[int, tuple[float, int]] = {}  # since when, and how many GPUs

    def change(self, running: _Held, now: float) -> None:
        """Record the jobs that run from now on."""
        for job in [job for job in self._held if job not in running]:
            self._end(job, now)
        for job, (gpus, _) in running.items():
            if job not in self._held or self._held[job][1] != gpus:
                self._end(job, now)
                self._held[job] = now, gpus

    def complete(self, jobs: Iterable[int], now: float) -> None:
        """Record the jobs that complete now."""
        for job in jobs:
            self._end(job, now)
            self.completions[job] = now

    def _end(self, job: int, now: float) -> None:
        start, gpus = self._held.pop(job, (now, 0))
        if start < now:
            self.pieces.append(ScheduledPiece(job, start, now, gpus))


def _ladders(segments: Segments) -> list[list[tuple[int, float]]]:
    """Return the additional GPUs of each job's segments, and the job's speed with each segment."""
    rows = list(zip(segments.more.tolist(), segments.speed.tolist(), strict=True))
    return [rows[first:after] for first, after in pairwise(segments.first.tolist())]


def _serve(
    segments: Segments,
    ladders: Sequence[Sequence[tuple[int, float]]],
    queue: Iterable[int],
) -> _Held:
    """Assign GPUs to the jobs in a queue, in order."""
    free = segments.gpus
    levels, running = dict[int, int](), _Held()
    for job in queue:
        if free < segments.least_gpus:
            break
        level = levels.get(job, 0)
        more, speed = ladders[job][level]
        if more <= free:
            free -= more
            running[job] = (running[job][0] if level else 0) + more, speed
            levels[job] = level + 1
    return running


def _work(instance: Instance, left: list[float], running: _Held, seconds: float) -> set[int]:
    """Let the running jobs work for the given number of seconds, and return the jobs that complete."""
    done = set()
    for job, (_, rate) in running.items():
        left[job] -= rate * seconds
        if left[job] <= WORK_DONE * instance.work[job]:
            done.add(job)
    return done
