"""Books: who has base and flexible workers on which machine, and which GPUs are left."""

from bisect import insort
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gsopt.simulation.policy import Action, Resize, Start, State
from heuristics.policies.aryl.crew import Crew, Workers
from heuristics.policies.aryl.machines import Counts, Machines


class Books:
    """The workers of all running jobs, by machine.

    Workers are put and taken by number; `commit` then chooses their GPUs, so that what stays keeps its own.

    Parameters
    ----------
    machines
        The machines.

    Attributes
    ----------
    there
        GPUs of each machine that are there, shape (machines,).
    base, flexible
        GPUs of base and of flexible workers on each machine, shape (machines,).
    crews, elastic
        The running jobs, in the order of their starts; those that may have flexible workers.
    """

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        size = len(machines.names)
        self.there: Counts = np.zeros(size, dtype=np.int64)
        self.base: Counts = np.zeros(size, dtype=np.int64)
        self.flexible: Counts = np.zeros(size, dtype=np.int64)
        self.crews: dict[int, Crew] = {}
        self.elastic: dict[int, Crew] = {}
        self._guests: list[dict[int, None]] = [{} for _ in range(size)]  # jobs with flexible workers
        self._free: list[list[int]] = [[] for _ in range(size)]
        self._seen: Any = None
        self._changed: dict[int, None] = {}

    @property
    def room(self) -> Counts:
        """GPUs of each machine that no base worker holds."""
        return self.there - self.base

    @property
    def idle(self) -> Counts:
        """GPUs of each machine that nobody holds."""
        return self.there - self.base - self.flexible

    # What is there

    def look(self, state: State) -> bool:
        """Look which GPUs are there, if others than before; nothing may be planned yet."""
        seen = (state.servers, state.capacity)
        if seen == self._seen:
            return False
        self._seen = seen
        machine_of = self.machines.machine_of
        for free in self._free:
            free.clear()
        for gpu in state.free_gpus():
            self._free[machine_of[gpu]].append(gpu)
        self.there[:] = [len(free) for free in self._free]
        self.there += self.base + self.flexible
        return True

    # Workers

    def begin(self, crew: Crew) -> None:
        """Let a job run on its base workers."""
        self.crews[crew.job] = crew
        if crew.form.is_elastic:
            self.elastic[crew.job] = crew
        self._changed[crew.job] = None
        self.put_base(crew.base, crew.form.worker_gpus)

    def end(self, job: int) -> None:
        """Let a job go that has completed or lost its GPUs."""
        crew = self.crews.pop(job)
        self.elastic.pop(job, None)
        self.put_base(crew.base, -crew.form.worker_gpus)
        for machine in list(crew.flexible):
            self.put_flexible(crew, machine, -crew.flexible[machine])
        self._changed.pop(job, None)
        for machine, gpus in crew.gpus.items():
            self._release(machine, gpus)

    def put_base(self, workers: Workers, worker_gpus: int) -> None:
        """Count the GPUs of base workers, of so many GPUs each; take them off when that is negative."""
        for machine, number in workers.items():
            self.base[machine] += number * worker_gpus

    def put_flexible(self, crew: Crew, machine: int, number: int) -> None:
        """Put flexible workers of a job onto a machine, or take them off when negative."""
        self._changed[crew.job] = None
        self.flexible[machine] += number * crew.form.worker_gpus
        crew.extra += number
        left = crew.flexible.pop(machine, 0) + number
        if left:
            crew.flexible[machine] = left
            self._guests[machine][crew.job] = None
        else:
            self._guests[machine].pop(crew.job, None)

    @property
    def unbooked(self) -> list[Crew]:
        """The jobs whose workers have changed since GPUs were chosen for them last."""
        return [self.crews[job] for job in self._changed]

    def guests(self, machine: int) -> list[Crew]:
        """Return the jobs with flexible workers on a machine, by number."""
        return [self.crews[job] for job in sorted(self._guests[machine])]

    def on(self, machines: Iterable[int]) -> list[int]:
        """Return the jobs with base workers on some machines, in the order of their starts."""
        some = set(machines)
        return [job for job, crew in self.crews.items() if not some.isdisjoint(crew.base)]

    # GPUs

    def commit(self, *, but: Iterable[int] = ()) -> Iterator[Action]:
        """Choose the GPUs of all that has changed, and give the actions that lead there.

        Jobs that stay keep as many of their GPUs on every machine as they have workers for.

        Parameters
        ----------
        but
            Jobs that are about to lose all their GPUs.
        """
        skipped = set(but)
        changed = [self.crews[job] for job in self._changed if job not in skipped]
        self._changed.clear()
        before = [crew.held for crew in changed]
        for crew in changed:
            self._give_back(crew)
        for crew, held in zip(changed, before, strict=True):
            self._take(crew)
            if not held:
                yield Start(crew.job, crew.held, crew.form.mode)
            elif crew.held != held:
                yield Resize(crew.job, crew.held)

    def _give_back(self, crew: Crew) -> None:
        wanted = crew.wanted
        for machine, gpus in list(crew.gpus.items()):
            keep = wanted.get(machine, 0)
            if keep < len(gpus):
                self._release(machine, gpus[keep:])
                crew.gpus[machine] = gpus[:keep]

    def _take(self, crew: Crew) -> None:
        for machine, count in crew.wanted.items():
            have = crew.gpus.get(machine, ())
            if count > len(have):
                free, more = self._free[machine], count - len(have)
                crew.gpus[machine] = (*have, *free[:more])
                del free[:more]
        crew.gpus = {machine: gpus for machine, gpus in crew.gpus.items() if gpus}

    def _release(self, machine: int, gpus: Iterable[int]) -> None:
        for gpu in gpus:
            insort(self._free[machine], gpu)
