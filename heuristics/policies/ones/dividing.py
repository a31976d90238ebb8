"""Dividing: a decider that divides the GPUs by a rule at every event, and runs jobs in their fastest mode."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import LEAST, Job
from gsopt.simulation.parts.ways import Ways, ways_of
from gsopt.simulation.policy import Action, Assign, State

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

#: Which jobs must run: none, those that have never run, or all.
Forced = Literal["none", "new", "all"]


@dataclass(frozen=True, eq=False)
class Division:
    """The GPUs to divide, and the jobs that share them.

    Attributes
    ----------
    gpus
        Number of GPUs.
    numbers
        Job numbers, in order of arrival.
    jobs
        The jobs.
    left
        Remaining work of each job, in seconds at speed 1; above 0.
    ways
        Each job's fastest allowed mode on every number of GPUs.
    held
        Number of GPUs that each job holds now.
    batches
        Current batch sizes; 0 if unknown, or if the job waits.
    started
        Whether each job has held GPUs before.
    """

    gpus: int
    numbers: Sequence[int]
    jobs: Sequence[Job]
    left: Floats
    ways: Sequence[Ways]
    held: Counts
    batches: Counts
    started: NDArray[np.bool_]

    @cached_property
    def speeds(self) -> Floats:
        """Speed of each job on 0, 1, ... GPUs, up to the most that any job can use; 0 where it may not run."""
        width = min(max(len(each.speeds) for each in self.ways), self.gpus + 1)
        table = np.zeros((len(self.ways), width))
        for row, each in zip(table, self.ways, strict=True):
            count = min(width, len(each.speeds))
            row[:count] = each.speeds[:count]
        return table

    def capped(self, caps: Iterable[int]) -> Floats:
        """Return the speeds, with 0 above each job's cap, except on the job's smallest number of GPUs."""
        speeds = self.speeds.copy()
        for row, cap in zip(speeds, caps, strict=True):
            first = int((row > 0).argmax())
            row[max(cap, first) + 1 :] = 0.0
        return speeds


class Roster:
    """A roster of the present jobs, which prepares divisions of GPUs and turns their results into actions.

    `limit` returns the largest batch size of a job, given its number. If `limit` or its result is None, any
    batch size is allowed. The smallest batch size of a job is always allowed.

    Clusters whose GPUs differ in type or memory are rejected, because only GPUs of one kind can be divided.
    """

    def __init__(self, state: State, limit: Callable[[int], int | None] | None = None) -> None:
        kinds = {(machine.gpu_type, machine.memory) for machine in state.cluster.machines}
        if len(kinds) > 1:
            rule = "must be alike: this policy divides GPUs of one kind"
            raise InvalidInput("cluster", f"GPUs of {len(kinds)} kinds", rule)
        self._limit = limit
        self._kind: str | None = next((kind for kind, _ in kinds), None)
        self._memory = next((memory for _, memory in kinds), None)
        self._ways: dict[int, tuple[int | None, Ways]] = {}  # of the jobs that are there, by their limit
        self._there: dict[int, None] = {}
        self._started: set[int] = set()

    def __len__(self) -> int:
        return len(self._there)

    def update(self, state: State) -> None:
        """Add jobs that have arrived, and remove those that are complete."""
        for job in state.completed:
            del self._there[job]
            self._ways.pop(job, None)
        self._there.update(dict.fromkeys(state.arrived))

    def division(self, state: State) -> Division:
        """Return the GPUs to divide now, and the jobs that share them; at least one job must be present."""
        numbers = tuple(self._there)
        running = state.running
        return Division(
            gpus=state.capacity,
            numbers=numbers,
            jobs=[state.jobs[job] for job in numbers],
            left=np.array([max(float(state.remaining(job)), LEAST) for job in numbers]),
            ways=[self._ways_of(state, job) for job in numbers],
            held=np.array([running.get(job, 0) for job in numbers], dtype=np.int64),
            batches=np.array([_batch(state, job) for job in numbers], dtype=np.int64),
            started=np.array([job in self._started for job in numbers], dtype=np.bool_),
        )

    def actions(self, state: State, division: Division, counts: Sequence[int] | Counts) -> Sequence[Action]:
        """Return the assignment for the given numbers of GPUs, or nothing if it is the current one."""
        chosen = {
            job: (int(count), ways.modes[count])
            for job, count, ways in zip(division.numbers, counts, division.ways, strict=True)
            if count
        }
        self._started.update(chosen)
        same = chosen == {job: (count, state.mode(job)) for job, count in state.running.items()}
        return () if same else (Assign(chosen),)

    def _ways_of(self, state: State, job: int) -> Ways:
        limit = self._limit(job) if self._limit else None
        if job not in self._ways or self._ways[job][0] != limit:
            self._ways[job] = (limit, ways_of(state.jobs[job], limit, self._memory, self._kind))
        return self._ways[job][1]


#: A function that returns, for every job, a number of GPUs on which it may run, or 0; in total at most all
#: GPUs.
Divide = Callable[[Division], Sequence[int] | Counts]


class Dividing:
    """A decider that divides the GPUs by a rule at every event, and runs each job in its fastest mode."""

    preemptive = True

    def __init__(self, state: State, divide: Divide, limit: Callable[[int], int | None] | None = None) -> None:
        self._roster = Roster(state, limit)
        self._divide = divide

    def decide(self, state: State) -> Iterable[Action]:
        """Divide the GPUs among the present jobs."""
        self._roster.update(state)
        if not len(self._roster) or state.capacity <= 0:
            return ()
        division = self._roster.division(state)
        return self._roster.actions(state, division, self._divide(division))


def _batch(state: State, job: int) -> int:
    """Return the batch size of a running job, or 0 if it waits or the size is unknown."""
    if job not in state.running:
        return 0
    item, name = state.jobs[job], state.mode(job)
    given = next((mode.batch_size for mode in item.modes if mode.name == name), None)
    return given or item.batch_size or 0


def forced_jobs(division: Division, speeds: Floats, left: Floats, forced: Forced) -> NDArray[np.bool_]:
    """Return which jobs must run: those `forced` jobs that fit together on their smallest numbers of GPUs.

    With ``new``, jobs that have never run are considered in order of arrival; with ``all``, all jobs in
    ascending order of remaining time on their smallest numbers of GPUs. A job that does not fit is skipped.
    """
    least = (speeds > 0).argmax(axis=1)
    places = [place for place in range(len(speeds)) if least[place] and forced != "none"]
    if forced == "all":
        places.sort(key=lambda place: left[place] / speeds[place, least[place]])
    else:
        places = [place for place in places if not division.started[place]]
    must = np.zeros(len(speeds), dtype=np.bool_)
    room = division.gpus
    for place in places:
        if least[place] <= room:
            must[place] = True
            room -= int(least[place])
    return must
