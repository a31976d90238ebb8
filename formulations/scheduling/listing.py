"""Listing: a schedule from a list of segments, without any kernel."""

from bisect import insort
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf
from operator import itemgetter

from formulations.scheduling.instance import Instance
from formulations.scheduling.segments import Segments
from formulations.scheduling.timetable import Piece, Timetable
from gsopt.tolerances import WORK_DONE

#: GPUs and speed of each job that runs.
_Held = dict[int, tuple[int, float]]


def serve_list(instance: Instance, segments: Segments, names: Iterable[int]) -> Timetable:
    """Serve jobs by a list: at each arrival and completion whoever comes first gets the GPUs of a segment.

    The list names each job as often as it has segments; the nth time stands for its nth segment, which is
    passed over where fewer GPUs are free.

    Parameters
    ----------
    instance
        The jobs.
    segments
        Their segments.
    names
        The list.

    Examples
    --------
    >>> from gsopt.problems.scheduling import ElasticJob, Scheduling
    >>> jobs = [ElasticJob(name=n, release=0, work=2, rates={1: 1.0, 2: 2.0}) for n in "ab"]
    >>> instance = Instance.of(Scheduling(gpus=2, jobs=jobs))
    >>> serve_list(instance, Segments.of(instance), [0, 1, 1, 0]).completions
    (2.0, 2.0)
    >>> serve_list(instance, Segments.of(instance), [1, 1, 0, 0]).completions
    (2.0, 1.0)
    """
    order, ladders, log = list(names), _ladders(segments), _Log(len(instance))
    places = _places(order, len(instance))
    left, waiting = list(instance.work), list[int]()
    coming, now = 0, 0.0
    dates = [*instance.release, inf]
    while waiting or coming < len(instance):
        now = now if waiting else dates[coming]
        while dates[coming] <= now:
            for place in places[coming]:
                insort(waiting, place)
            coming += 1
        running = _serve(segments, ladders, order, waiting)
        log.change(running, now)
        seconds = min(left[job] / rate for job, (_, rate) in running.items())
        now, seconds = min((dates[coming], dates[coming] - now), (now + seconds, seconds), key=itemgetter(0))
        done = _work(instance, left, running, seconds)
        if done:
            log.complete(done, now)
            waiting = [place for place in waiting if order[place] not in done]
    return Timetable(instance, tuple(sorted(log.pieces)), tuple(log.completions))


class _Log:
    """What has been run so far, and what runs."""

    def __init__(self, jobs: int) -> None:
        self.pieces: list[Piece] = []
        self.completions = [inf] * jobs
        self._held: dict[int, tuple[float, int]] = {}  # since when, and how many GPUs

    def change(self, running: _Held, now: float) -> None:
        """Write down who runs now."""
        for job in [job for job in self._held if job not in running]:
            self._end(job, now)
        for job, (gpus, _) in running.items():
            if job not in self._held or self._held[job][1] != gpus:
                self._end(job, now)
                self._held[job] = now, gpus

    def complete(self, jobs: Iterable[int], now: float) -> None:
        """Write down who is done."""
        for job in jobs:
            self._end(job, now)
            self.completions[job] = now

    def _end(self, job: int, now: float) -> None:
        start, gpus = self._held.pop(job, (now, 0))
        if start < now:
            self.pieces.append(Piece(job, start, now, gpus))


def _ladders(segments: Segments) -> list[list[tuple[int, float]]]:
    """Give the additional GPUs of each job's segments, and its speed with each."""
    rows = list(zip(segments.more.tolist(), segments.speed.tolist(), strict=True))
    return [rows[first:after] for first, after in pairwise(segments.first.tolist())]


def _places(order: Sequence[int], jobs: int) -> list[list[int]]:
    """Give the places of each job in a list."""
    places = [list[int]() for _ in range(jobs)]
    for place, job in enumerate(order):
        places[job].append(place)
    return places


def _serve(
    segments: Segments,
    ladders: Sequence[Sequence[tuple[int, float]]],
    order: Sequence[int],
    waiting: Iterable[int],
) -> _Held:
    """Give GPUs by the list."""
    free, fewest = segments.gpus, segments.fewest
    levels, running = dict[int, int](), _Held()
    for place in waiting:
        if free < fewest:
            break
        job = order[place]
        level = levels.get(job, 0)
        more, speed = ladders[job][level]
        if more <= free:
            free -= more
            running[job] = (running[job][0] if level else 0) + more, speed
            levels[job] = level + 1
    return running


def _work(instance: Instance, left: list[float], running: _Held, seconds: float) -> set[int]:
    """Work for some seconds; give who is done."""
    done = set()
    for job, (_, rate) in running.items():
        left[job] -= rate * seconds
        if left[job] <= WORK_DONE * instance.work[job]:
            done.add(job)
    return done
