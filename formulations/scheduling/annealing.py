"""Annealing: a search over lists of segments; it can be interrupted and resumed at any time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from time import perf_counter
from typing import Any

import numpy as np

from formulations.scheduling.instance import Instance
from formulations.scheduling.moving import DRAWS, Lists, anneal, begin
from formulations.scheduling.segments import Integers, Reals, Segments
from formulations.scheduling.serving import Changes, Marks, ReplayState, trace
from formulations.scheduling.timetable import ScheduledPiece, Timetable
from gsopt.core.budget import Budget

#: Maximum number of marks, and maximum number of entries in all marks together.
_MOST_MARKS, _MOST_MARKED = 256, 2_000_000

#: Maximum distances, in places of the list, of the first two kinds of moves. A third kind may go any distance.
_REACH = (8, 40)

#: First temperature as a fraction of the mean job completion time; last temperature as a fraction of the first
#: one.
_HOT, _COOLED = 0.1, 0.01

#: Minimum number of steps per segment for which the full first temperature is used. Shorter runs begin cooler,
#: because they would otherwise lose what is good in the initial list.
_PATIENT = 200

#: Maximum seconds between two checks of the budget, and the number of steps before the first check.
_CHUNK, _FIRST_STEPS = 0.03, 4

#: Relative decrease of the mean job completion time that triggers a report.
_WORTH_TELLING = 0.003

#: Number of jobs, adjacent by release date, alongside which a job is assumed to run even if the cluster is
#: empty.
_SOME = 10

#: Maximum factor by which the number of steps grows from one chunk to the next.
_GROWTH = 4


@dataclass
class _ChunkPace:
    """The number of steps that fit into a chunk of time."""

    steps: int = _FIRST_STEPS
    rate: float = 0.0

    def learn(self, steps: int, seconds: float) -> None:
        """Adapt the number of steps to the measured time of a chunk."""
        if seconds > 0:  # or they took less than the clock can tell
            self.rate = steps / seconds
        self.steps = max(1, min(_GROWTH * steps, int(self.rate * _CHUNK) if seconds > 0 else _GROWTH * steps))


class Annealing:
    """Simulated annealing of lists of segments, starting from the best known list.

    A list names each job once for every segment of the concave hull of its speeds. Jobs are served in the order
    of the list (see `formulations.scheduling.serving`). A move shifts one entry, or all entries of a job.
    Missed deadlines are penalized. The same seed, lists and numbers of steps yield the same result, whether the
    code is compiled or not. The search starts from the best of the given lists; if there are none, it starts
    from the list by area (`Segments.by_size`). `cost` is the sum of completion times and penalties for the best
    list.
    """

    def __init__(self, instance: Instance, names: Sequence[Integers] = (), *, seed: int = 0) -> None:
        jobs = len(instance)
        self.instance, self.segments = instance, Segments.of(instance)
        self._state = ReplayState.of(self.segments)
        most = max(1, min(_MOST_MARKS, jobs, _MOST_MARKED // jobs))
        start = float(sum(map(instance.earliest, range(jobs))))
        self._known, self._noted = (Marks.of(jobs, most, start) for _ in range(2))
        first = names[0] if names else self.segments.by_size(self.segments.areas)
        self._lists = Lists.of(first)
        self._random = np.random.default_rng(seed)
        self._reach = np.array([*_REACH, len(self.segments.job)])
        self._pace = _ChunkPace()
        self.cost = begin(self.segments, self._lists, self._state, self._known, self._noted)
        for other in names[1:]:
            self.offer(other)
        self._near = self._jobs_met()

    def offer(self, names: Integers) -> bool:
        """Make the given list the best one if it costs less, and return whether it does."""
        self._lists.current[:] = names
        cost = begin(self.segments, self._lists, self._state, self._known, self._noted)
        better = cost < self.cost
        if better:
            self.cost = cost
            self._lists.best[:] = names
        return better

    def improve(
        self, steps: int, budget: Budget | None = None, tell: Callable[["Annealing"], bool] | None = None
    ) -> None:
        """Anneal once from the best list, with the temperature falling over the given number of steps.

        `tell` is called when the best list has become clearly better than at the last call, and returns whether
        to stop.
        """
        self._lists.current[:] = self._lists.best
        total = begin(self.segments, self._lists, self._state, self._known, self._noted)
        hot = self._hot(steps, total)
        done, told = 0, self.cost
        while done < steps and (budget is None or not budget.passed):
            size = min(self._pace.steps, steps - done)
            draws, before = self._random.random(size * DRAWS), perf_counter()
            total, self.cost = anneal(
                self.segments,
                self._lists,
                self._state,
                self._known,
                self._noted,
                self._reach,
                self._near,
                draws,
                hot * _COOLED ** (np.arange(done, done + size) / steps),
                total,
                self.cost,
            )
            self._pace.learn(size, perf_counter() - before)
            done += size
            if tell is not None and told - self.cost > _WORTH_TELLING * (self.cost - self.instance.released):
                told = self.cost
                if tell(self):
                    return

    def _jobs_met(self) -> int:
        """Return the average number of jobs present at a time, plus a few."""
        mean = self.instance.mean_jct(self.cost)
        span = max(self.instance.release[-1], mean)
        return _SOME + int(len(self.instance) * min(mean / span, 1.0))

    def steps_in(self, seconds: float) -> int:
        """Estimate how many steps fit into the given number of seconds, measuring a few steps if necessary."""
        if not self._pace.rate:
            self.improve(_FIRST_STEPS)
            self.improve(_FIRST_STEPS)  # the first may have been compiled
        return max(1, int(self._pace.rate * seconds))

    @property
    def size(self) -> int:
        """The length of a list, which is the number of segments of all jobs together."""
        return len(self.segments.job)

    def _hot(self, steps: int, total: float) -> float:
        """Return the temperature of the first step."""
        patience = min(1.0, sqrt(steps / (_PATIENT * self.size)))
        return _HOT * patience * self.instance.mean_jct(total)

    @property
    def names(self) -> Integers:
        """A copy of the best list."""
        return self._lists.best.copy()

    @property
    def timetable(self) -> Timetable:
        """The timetable of the best list."""
        return timetable(self.instance, self.segments, self._lists.best)


def timetable(instance: Instance, segments: Segments, names: Integers) -> Timetable:
    """Return the timetable that results from serving jobs in the order of a list."""
    state, completions, changes = ReplayState.of(segments), np.zeros(len(instance)), Changes.of(0)
    size = trace(segments, names, state, state.here * 0, completions, changes)
    changes = Changes.of(size)
    trace(segments, names, state, state.here * 0, completions, changes)
    return Timetable(instance, tuple(_pieces(changes, completions)), tuple(completions.tolist()))


def _pieces(changes: Changes, completions: Reals) -> list[ScheduledPiece]:
    """Return the pieces of the schedule, job by job."""
    rows: list[Any] = sorted(
        zip(changes.job.tolist(), changes.time.tolist(), changes.gpus.tolist(), strict=True)
    )
    pieces = []
    for (job, start, gpus), (following, time, _) in zip(rows, [*rows[1:], (-1, 0.0, 0)], strict=True):
        end = time if following == job else float(completions[job])
        if gpus and start < end:
            pieces.append(ScheduledPiece(job, start, end, gpus))
    return pieces
