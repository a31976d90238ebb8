"""Dividing: who runs is decided anew as a whole at every event, by the best ways of all jobs that are there."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import LEAST, Job
from gsopt.simulation.parts.ways import Ways, ways_of
from gsopt.simulation.policy import Action, Assign, State

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Division:
    """What is to be divided, and among whom.

    Attributes
    ----------
    gpus
        GPUs that are there.
    numbers
        The jobs by number, in the order of their arrival.
    jobs
        What they are.
    left
        Work that is left of each, in seconds at speed 1; above 0.
    ways
        The best ways to run each.
    held
        GPUs that each holds now.
    batches
        Batch sizes with which they run; 0 where none is known, or the job waits.
    started
        Whether each has held GPUs before.
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
        """Speed of each job on 0, 1, ... GPUs, as far as all GPUs reach; 0 where it may not run."""
        width = min(max(len(each.speeds) for each in self.ways), self.gpus + 1)
        table = np.zeros((len(self.ways), width))
        for row, each in zip(table, self.ways, strict=True):
            count = min(width, len(each.speeds))
            row[:count] = each.speeds[:count]
        return table

    def capped(self, caps: Iterable[int]) -> Floats:
        """Return the speeds, but 0 on more GPUs than a cap; a job that runs on none has its fewest."""
        speeds = self.speeds.copy()
        for row, cap in zip(speeds, caps, strict=True):
            first = int((row > 0).argmax())
            row[max(cap, first) + 1 :] = 0.0
        return speeds


class Roster:
    """The jobs that are there, with their best ways, and the assignments that numbers of GPUs stand for.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    limit
        The most samples of a batch of a job by number; any when None.

    Raises
    ------
    InvalidInput
        Not all GPUs are alike to all jobs: only one kind can be divided.
    """

    def __init__(self, state: State, limit: Callable[[int], int | None] | None = None) -> None:
        kinds = {(machine.gpu_type, machine.memory) for machine in state.cluster.machines}
        if len(kinds) > 1:
            rule = "must be alike: this policy divides GPUs of one kind"
            raise InvalidInput("", "cluster", f"GPUs of {len(kinds)} kinds", rule)
        self._limit = limit
        self._kind: str | None = next((kind for kind, _ in kinds), None)
        self._memory = next((memory for _, memory in kinds), None)
        self._ways: dict[int, tuple[int | None, Ways]] = {}  # of the jobs that are there, by their limit
        self._there: dict[int, None] = {}
        self._started: set[int] = set()

    def __len__(self) -> int:
        return len(self._there)

    def look(self, state: State) -> None:
        """Take in who has come and who has gone."""
        for job in state.completed:
            del self._there[job]
            self._ways.pop(job, None)
        self._there.update(dict.fromkeys(state.arrived))

    def division(self, state: State) -> Division:
        """Return what is to be divided now; some job is there."""
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
        """Return the assignment by numbers of GPUs, unless it is what runs already."""
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


#: Gives every job a number of GPUs on which it may run, in all at most those that are there.
Divide = Callable[[Division], Sequence[int] | Counts]


class Dividing:
    """Let a rule divide the GPUs at every event, and run each job in its best mode on what it gets.

    Parameters
    ----------
    state, limit
        As of `Roster`.
    divide
        The rule.

    Raises
    ------
    InvalidInput
        As for `Roster`.
    """

    preemptive = True

    def __init__(self, state: State, divide: Divide, limit: Callable[[int], int | None] | None = None) -> None:
        self._roster = Roster(state, limit)
        self._divide = divide

    def decide(self, state: State) -> Iterable[Action]:
        """Divide the GPUs among the jobs that are there."""
        self._roster.look(state)
        if not len(self._roster) or state.capacity <= 0:
            return ()
        division = self._roster.division(state)
        return self._roster.actions(state, division, self._divide(division))


def _batch(state: State, job: int) -> int:
    """Return the batch size with which a job runs; 0 where it waits or it is unknown."""
    if job not in state.running:
        return 0
    item, name = state.jobs[job], state.mode(job)
    given = next((mode.batch_size for mode in item.modes if mode.name == name), None)
    return given or item.batch_size or 0
