"""Fewest machines: free GPUs on no more machines than a job could ever do with."""

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from gsopt.job import Job
from gsopt.simulation.deciders.tiers import Need, need_of
from gsopt.simulation.placer import FreeGpus, consolidated, emptiest_first
from gsopt.simulation.policy import State


class FewestMachines:
    """Free GPUs for jobs that wait rather than run on more machines than they need.

    How many a job needs is a matter of the machines that are there, whoever uses them. It gets the machine with
    the fewest free GPUs that suffice; several machines of one rack if a rack has them free, the emptiest first.
    Only a cluster of racks has machines.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    machines
        Numbers of the machines that it may have; all if None.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> def watched(state):
    ...     free = FewestMachines(state)
    ...     free.look(state)
    ...     free.take([0])
    ...     print([free.find(Job(name="b", release_date=0, duration=1, gpus=gpus)) for gpus in (1, 2, 3, 4)])
    ...     return fifo(state)
    >>> jobs = [Job(name="a", release_date=0, duration=1, gpus=1)]
    >>> simulate(Workload(jobs=jobs), watched, cluster=Cluster.uniform(machines=2, gpus=2)).completion_times
    [(1,), (2, 3), (1, 2, 3), None]
    (1.0,)
    """

    def __init__(self, state: State, machines: Iterable[int] | None = None) -> None:
        self._cluster = state.cluster
        every = range(len(state.cluster.machines))
        self._machines = tuple(every if machines is None else sorted(machines))
        self._free: list[list[int]] = []
        self._books: dict[tuple[int, ...], FreeGpus] = {}
        self._seen: Any = None
        self._there = [0] * len(every)  # GPUs of each machine that are there
        self._suitable: dict[tuple[str, int | None], tuple[int, ...]] = {}
        self._fewest: dict[Need, int | None] = {}

    def look(self, state: State) -> None:
        """Take stock of what is free."""
        self._look_who_is_there(state)
        self._books.clear()
        self._free = [[] for _ in self._there]
        for gpu in state.free_gpus():
            self._free[self._cluster.machine_of[gpu]].append(gpu)

    def could(self, job: Job) -> bool:
        """Tell whether a job would fit if nobody else were there, since the last look."""
        return self._machines_needed(job) is not None

    def find(self, job: Job) -> tuple[int, ...] | None:
        """Give the free GPUs on which a job may start, by number; None when it has to wait."""
        most = self._machines_needed(job)
        if most is None:
            return None
        book = self._book(self._suits(job))
        if book.count < job.gpus:
            return None
        for placer in (consolidated, emptiest_first):
            chosen = placer(book, job.gpus)
            if len({self._cluster.machine_of[gpu] for gpu in chosen}) <= most:
                return tuple(sorted(chosen))
        return None

    def take(self, gpus: Iterable[int]) -> None:
        """Take note that GPUs are free no more; others than free ones are passed over."""
        for gpu in gpus:
            machine = self._cluster.machine_of[gpu]
            free = self._free[machine]
            if gpu in free:
                before = len(free)
                free.remove(gpu)
                for machines, book in self._books.items():
                    if machine in machines:
                        book.recount(machine, before, before - 1)

    def _look_who_is_there(self, state: State) -> None:
        """Count the GPUs of each machine that are there: the first ones, as many as there are."""
        seen = state.capacity, state.servers
        if seen == self._seen:
            return
        self._seen = seen
        self._fewest.clear()
        left, names = state.capacity, set(state.servers)
        for number, machine in enumerate(self._cluster.machines):
            size = min(machine.gpus, left) if machine.name in names else 0
            self._there[number] = size
            left -= size

    def _machines_needed(self, job: Job) -> int | None:
        """Give the least number of machines that a job can do with; None when it does not fit at all."""
        need = need_of(job)
        if need not in self._fewest:
            self._fewest[need] = self._least(job)
        return self._fewest[need]

    def _least(self, job: Job) -> int | None:
        sizes = sorted((self._there[machine] for machine in self._suits(job)), reverse=True)
        return next((k for k, gpus in enumerate(accumulate(sizes), start=1) if gpus >= job.gpus), None)

    def _suits(self, job: Job) -> tuple[int, ...]:
        """Give the machines whose type and memory suit a job."""
        key = job.gpu_type, job.memory
        if key not in self._suitable:
            self._suitable[key] = tuple(
                number
                for number in self._machines
                if job.gpu_type in {"", (machine := self._cluster.machines[number]).gpu_type}
                and (machine.memory is None or machine.memory >= (job.memory or 0))
            )
        return self._suitable[key]

    def _book(self, machines: tuple[int, ...]) -> FreeGpus:
        if machines not in self._books:
            self._books[machines] = FreeGpus(self._cluster, machines, self._free)
        return self._books[machines]
