"""Profiler: reserved machines on which jobs run for a while before they wait for the other machines."""

from bisect import insort
from collections.abc import Iterable, Iterator
from typing import Any

from gsopt.simulation.parts.tiers import need_of
from gsopt.simulation.policy import Action, Start, State, Stop, Wake
from heuristics.policies.lucid.machines import FewestMachines

#: One machine in this many is for profiling, and at most this many are. Source: the published code has 2 of
#: 130.
ONE_IN, MOST = 64, 2


class Profiler:
    """A profiler, which runs jobs on reserved machines for some seconds, starting with the smallest jobs.

    The size of a job is its number of GPUs. A job that does not fit blocks the jobs behind it. A job that has
    not completed after `seconds` is stopped, keeps the progress that the scenario lets it keep, and is
    released, i.e. it may run on the other machines from then on. Jobs that are too large, that fit on no
    reserved machines, or that return after losing their GPUs are released immediately.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    machines
        Number of reserved machines, the last ones of the cluster; if None, one in 64 and at most two.
    seconds
        How long a job is profiled, in seconds.
    largest
        Largest number of GPUs of a job that is profiled.
    charged
        Whether profiled jobs wait to be released. Otherwise, all jobs except those that will complete here are
        released immediately: they run elsewhere, but still occupy GPUs of the profiler for as long as profiling
        would take.

    Attributes
    ----------
    machines
        Indices of the reserved machines.
    stops
        Whether the profiler stops jobs.
    released
        The jobs that the last decision released.
    """

    def __init__(
        self, state: State, machines: int | None, *, seconds: float, largest: int, charged: bool
    ) -> None:
        there = len(state.cluster.machines)
        count = min(there // ONE_IN, MOST) if machines is None else min(machines, there)
        self.machines = frozenset(range(there - count, there))
        self.stops = charged and count > 0
        self.released: list[int] = []
        self._seconds, self._largest, self._charged = seconds, largest, charged
        self._places = FewestMachines(state, self.machines)
        self._seen: set[int] = set()  # who ever came here
        self._queue: list[tuple[int, int]] = []  # GPUs and number of those that wait
        self._held: dict[int, tuple[tuple[int, ...], Any]] = {}  # GPUs, and until when if not to the end

    def decide(self, state: State, waiting: Iterable[int]) -> Iterator[Action]:
        """Record the jobs that begin to wait, stop jobs that have been profiled, and start others."""
        if not self.machines:
            self.released = list(waiting)
            return
        self.released = []
        yield from self._stops(state)
        self._places.look(state)
        for job in waiting:
            self._take_in(state, job)
        yield from self._starts(state)
        ends = [until for _, until in self._held.values() if until is not None]
        if ends:
            yield Wake(min(ends))

    def _stops(self, state: State) -> Iterator[Action]:
        """Stop the jobs that have been profiled."""
        for job in (*state.completed, *state.evicted):
            self._held.pop(job, None)
        for job, (_, until) in list(self._held.items()):
            if until is not None and until <= state.now:
                del self._held[job]
                if self._charged:
                    yield Stop(job)
                    self.released.append(job)

    def _take_in(self, state: State, job: int) -> None:
        item = state.jobs[job]
        is_new = job not in self._seen and item.gpus <= self._largest and self._places.could(need_of(item))
        if is_new:
            self._seen.add(job)
            insort(self._queue, (item.gpus, job))
        if not (is_new and self._stays(state, job)):
            self.released.append(job)

    def _starts(self, state: State) -> Iterator[Action]:
        """Start queued jobs, those with the fewest GPUs first, until one does not fit."""
        for held, _ in self._held.values():
            self._places.take(held)  # where jobs only seem to be
        while self._queue:
            _, job = self._queue[0]
            need = need_of(state.jobs[job])
            gpus = self._places.find(need)
            if gpus is None and self._places.could(need):
                return
            del self._queue[0]
            if gpus is not None:
                yield from self._start(state, job, gpus)
            elif self._stays(state, job):  # and its machines have gone
                self.released.append(job)

    def _start(self, state: State, job: int, gpus: tuple[int, ...]) -> Iterator[Action]:
        """Reserve GPUs for a job, and start it unless it runs elsewhere."""
        self._places.take(gpus)
        completes = not self._charged and self._stays(state, job)
        self._held[job] = gpus, None if completes else state.now + type(state.now)(self._seconds)
        if self._stays(state, job):
            yield Start(job, gpus)

    def _stays(self, state: State, job: int) -> bool:
        """Check whether a job really runs here: if `charged`, every job; otherwise, jobs that complete here."""
        return self._charged or state.jobs[job].duration <= self._seconds
