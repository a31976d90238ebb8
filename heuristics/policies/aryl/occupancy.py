"""Occupancy: the base and flexible workers of running jobs on each machine, and the idle GPUs."""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gsopt.simulation.policy import Action, Resize, Start, State
from heuristics.policies.aryl.forms import Form
from heuristics.policies.aryl.machines import Counts, Machines
from heuristics.policies.aryl.scheduler import Pool


@dataclass(eq=False, slots=True)
class RunningJob:
    """The workers of a running job, maintained by `Occupancy`.

    Attributes
    ----------
    job
        Number of the job.
    form
        The form in which it runs.
    base, flexible
        Number of base workers and of flexible workers on each machine.
    pool
        The pool in which further flexible workers would be placed.
    speeds
        Speeds as in the form or, for a mixed job, on the GPUs that it would get (see
        `heuristics.policies.aryl.growth.growth`).
    gpus
        The GPUs that the job has held on each machine since the last commit.
    extra
        Total number of flexible workers.
    """

    job: int
    form: Form
    base: dict[int, int]
    flexible: dict[int, int] = field(default_factory=dict)
    pool: Pool = "training"
    speeds: tuple[float, ...] = ()
    gpus: dict[int, tuple[int, ...]] = field(default_factory=dict)
    extra: int = 0

    @property
    def held(self) -> tuple[int, ...]:
        """The GPUs that the job holds, in ascending order."""
        return tuple(sorted(gpu for gpus in self.gpus.values() for gpu in gpus))

    @property
    def demand(self) -> dict[int, int]:
        """Number of GPUs of the job's workers on each machine."""
        size = self.form.worker_gpus
        counts = {machine: workers * size for machine, workers in self.base.items()}
        for machine, workers in self.flexible.items():
            counts[machine] = counts.get(machine, 0) + workers * size
        return counts

    def allowed(self, extra: int) -> int:
        """Return the largest allowed number of flexible workers that is at most `extra`."""
        extra = min(extra, len(self.speeds) - 1)
        while not self.speeds[extra]:
            extra -= 1
        return extra


class Occupancy:
    """The workers of all running jobs on each machine.

    Placing and removing workers first changes only their numbers. `commit` then chooses the GPUs, and remaining
    workers keep theirs.

    Attributes
    ----------
    present
        Number of available GPUs of each machine, shape (machines,).
    base, flexible
        Number of GPUs of base and of flexible workers on each machine, shape (machines,).
    jobs, elastic
        All running jobs, in the order of their starts, and the running jobs that may have flexible workers.
    """

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        size = len(machines.names)
        self.present: Counts = np.zeros(size, dtype=np.int64)
        self.base: Counts = np.zeros(size, dtype=np.int64)
        self.flexible: Counts = np.zeros(size, dtype=np.int64)
        self.jobs: dict[int, RunningJob] = {}
        self.elastic: dict[int, RunningJob] = {}
        self._flexible_on: list[dict[int, None]] = [{} for _ in range(size)]
        self._free: list[list[int]] = [[] for _ in range(size)]
        self._seen: Any = None
        self._changed: dict[int, None] = {}

    @property
    def room(self) -> Counts:
        """For each machine, the number of available GPUs that are not held by base workers."""
        return self.present - self.base

    @property
    def idle(self) -> Counts:
        """Number of idle GPUs of each machine; negative where flexible workers must still make way."""
        return self.present - self.base - self.flexible

    def update(self, state: State) -> bool:
        """Update which GPUs are available, and return whether this changed.

        All changes of workers must have been committed before.
        """
        seen = (state.servers, state.capacity)
        if seen == self._seen:
            return False
        self._seen = seen
        machine_of = self.machines.machine_of
        for free in self._free:
            free.clear()
        for gpu in state.free_gpus():
            self._free[machine_of[gpu]].append(gpu)
        self.present[:] = [len(free) for free in self._free]
        self.present += self.base + self.flexible
        return True

    def start(self, running: RunningJob) -> None:
        """Add a job with its base workers."""
        self.jobs[running.job] = running
        if running.form.is_elastic:
            self.elastic[running.job] = running
        self._changed[running.job] = None
        self.put_base(running.base, running.form.worker_gpus)

    def end(self, job: int) -> None:
        """Remove a job that has completed or lost its GPUs."""
        running = self.jobs.pop(job)
        self.elastic.pop(job, None)
        self.put_base(running.base, -running.form.worker_gpus)
        for machine in list(running.flexible):
            self.put_flexible(running, machine, -running.flexible[machine])
        self._changed.pop(job, None)
        for machine, gpus in running.gpus.items():
            self._release(machine, gpus)

    def put_base(self, workers: Mapping[int, int], worker_gpus: int) -> None:
        """Count the GPUs of base workers as used, or as no longer used if `worker_gpus` is negative."""
        for machine, number in workers.items():
            self.base[machine] += number * worker_gpus

    def put_flexible(self, running: RunningJob, machine: int, number: int) -> None:
        """Place flexible workers of a job on a machine, or remove them if the number is negative."""
        self._changed[running.job] = None
        self.flexible[machine] += number * running.form.worker_gpus
        running.extra += number
        left = running.flexible.pop(machine, 0) + number
        if left:
            running.flexible[machine] = left
            self._flexible_on[machine][running.job] = None
        else:
            self._flexible_on[machine].pop(running.job, None)

    @property
    def changed(self) -> list[RunningJob]:
        """The jobs whose workers have changed since the last commit."""
        return [self.jobs[job] for job in self._changed]

    def flexible_on(self, machine: int) -> list[RunningJob]:
        """Return the jobs with flexible workers on a machine, in ascending order of job number."""
        return [self.jobs[job] for job in sorted(self._flexible_on[machine])]

    def base_on(self, machines: Iterable[int]) -> list[int]:
        """Return the jobs with base workers on any of the machines, in the order of their starts."""
        some = set(machines)
        return [job for job, running in self.jobs.items() if not some.isdisjoint(running.base)]

    def commit(self, *, but: Iterable[int] = ()) -> Iterator[Action]:
        """Choose GPUs for all jobs whose workers have changed, and yield the actions that assign these GPUs.

        On every machine, a job keeps as many of its GPUs as its workers there still need. Jobs in `but` are
        about to lose all their GPUs and are skipped.
        """
        skipped = set(but)
        changed = [self.jobs[job] for job in self._changed if job not in skipped]
        self._changed.clear()
        before = [running.held for running in changed]
        for running in changed:
            self._give_back(running)
        for running, held in zip(changed, before, strict=True):
            self._take(running)
            if not held:
                yield Start(running.job, running.held, running.form.mode)
            elif running.held != held:
                yield Resize(running.job, running.held)

    def _give_back(self, running: RunningJob) -> None:
        demand = running.demand
        for machine, gpus in list(running.gpus.items()):
            keep = demand.get(machine, 0)
            if keep < len(gpus):
                self._release(machine, gpus[keep:])
                running.gpus[machine] = gpus[:keep]

    def _take(self, running: RunningJob) -> None:
        for machine, count in running.demand.items():
            have = running.gpus.get(machine, ())
            if count > len(have):
                free, more = self._free[machine], count - len(have)
                running.gpus[machine] = (*have, *free[:more])
                del free[:more]
        running.gpus = {machine: gpus for machine, gpus in running.gpus.items() if gpus}

    def _release(self, machine: int, gpus: Iterable[int]) -> None:
        for gpu in gpus:
            insort(self._free[machine], gpu)
