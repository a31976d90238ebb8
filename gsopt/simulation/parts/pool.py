"""Pool: the free GPUs during a decision, by kind if the cluster has several kinds.

A kind is a GPU type with a memory size. A job may use the kinds that have enough memory for it and are of the
GPU type that it requires, if any. It first takes GPUs of the kinds that it held before, then those with the
least memory.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import inf
from typing import Any

from gsopt.core.errors import Unsupported
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation.parts.inventory import GpuKind
from gsopt.simulation.placer import FreeGpus, consolidated
from gsopt.simulation.policy import Action, Resize, Start, State, Stop

#: The GPUs that a job holds: their number, or one number per kind.
Holding = Any


def pool_of(state: State) -> "Pool":
    """Create the pool from which a policy takes free GPUs during a decision.

    The pool is of class `Kinds` if the GPUs of the cluster differ in type or memory, and of class `Count`
    otherwise.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> def watched(state):
    ...     print(type(pool_of(state)).__name__)
    ...     return fifo(state)
    >>> jobs = [Job(name="a", release_date=0, duration=1, gpus=1)]
    >>> simulate(Workload(jobs=jobs), watched, cluster=4).completion_times
    Count
    (1.0,)
    """
    kinds = {GpuKind(machine.gpu_type, machine.memory) for machine in state.cluster.machines}
    return Kinds(state.cluster) if len(kinds) > 1 else Count(*kinds)


class Count:
    """The pool of a cluster with one kind of GPU, where a holding (what a job holds) is a number of GPUs.

    The kind is a GPU type with a memory size. In a plain cluster, it is None, and suits every job.
    """

    def __init__(self, kind: GpuKind | None = None) -> None:
        self.free = 0
        self._kind = kind

    @property
    def is_empty(self) -> bool:
        """Whether no GPU is free."""
        return self.free <= 0

    def look(self, state: State) -> None:
        """Count the free GPUs of the current state."""
        self.free = state.free

    def check_arrived(self, state: State) -> None:
        """Raise `Unsupported` if a job that arrives now may not use the GPUs."""
        for job in state.arrived:
            if not self._suits(state.jobs[job]):
                raise Unsupported(
                    f"job {state.jobs[job].name!r} suits no GPU of the cluster in its default mode"
                )

    def queue(self, job: Job, least: int) -> Hashable:
        """Return the identifier of the queue for jobs whose smallest number of GPUs is `least`.

        The identifier is `least`, or infinity if the job may not use the GPUs.
        """
        return least if self._suits(job) else inf

    def fits(self, queue: Any) -> bool:
        """Check whether enough GPUs are free for any one job of a queue."""
        return bool(queue <= self.free)

    def kinds(self, job: Job) -> tuple[int, ...]:
        """Return the index of the only kind, as a tuple; empty if the job may not use it."""
        return (0,) if self._suits(job) else ()

    def holding(self, gpus: Sequence[int]) -> int:
        """Return the holding with the given number of GPUs, which is the only item of `gpus`."""
        return gpus[0]

    def room(self, job: Job) -> int:
        """Return the number of free GPUs that a job may use."""
        return self.free if self._suits(job) else 0

    def usable(self, holding: int, job: Job) -> int:
        """Return the number of GPUs in a holding that a job may use."""
        return holding if self._suits(job) else 0

    def take(self, job: Job, count: int, before: int | None = None) -> int:
        """Take free GPUs for a job, and return its new holding, which does not depend on the previous one."""
        del job, before
        self.free -= count
        return count

    def give_back(self, holding: int) -> None:
        """Return the GPUs of a holding to the pool."""
        self.free += holding

    def actions(
        self, state: State, before: Mapping[int, int | None], after: Mapping[int, int | None]
    ) -> list[Action]:
        """Return the actions that change one allocation into another, starting with those that free GPUs."""
        del state
        less: list[Action] = []
        more: list[Action] = []
        for job, had in before.items():
            count = after[job]
            if had is None:
                if count is not None:
                    more.append(Start(job, count))
            elif count is None:
                less.append(Stop(job))
            elif count != had:
                (more if count > had else less).append(Resize(job, count))
        return less + more

    def _suits(self, job: Job) -> bool:
        return self._kind is None or self._kind.suits(job)


class Kinds:
    """The pool of a cluster with several kinds of GPUs.

    A holding (what a job holds) is a tuple with the number of GPUs of each kind. Kinds are in ascending order
    of memory.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        order: dict[GpuKind, None] = {}
        for each in cluster.machines:
            order[GpuKind(each.gpu_type, each.memory)] = None
        self._kinds = sorted(order, key=lambda kind: inf if kind[1] is None else kind[1])
        number = {kind: index for index, kind in enumerate(self._kinds)}
        of_machine = [number[GpuKind(machine.gpu_type, machine.memory)] for machine in cluster.machines]
        self._machines: list[list[int]] = [[] for _ in self._kinds]
        for machine, kind in enumerate(of_machine):
            self._machines[kind].append(machine)
        self._kind_of = [of_machine[machine] for machine in cluster.machine_of]
        self._free = [0] * len(self._kinds)
        self._allowed: dict[tuple[str, int | None], tuple[int, ...]] = {}

    @property
    def free(self) -> tuple[int, ...]:
        """Number of free GPUs of each kind."""
        return tuple(self._free)

    @property
    def is_empty(self) -> bool:
        """Whether no GPU is free."""
        return not any(self._free)

    def look(self, state: State) -> None:
        """Count the free GPUs of each kind in the current state."""
        counts = Counter(map(self._kind_of.__getitem__, state.free_gpus()))
        self._free = [counts[kind] for kind in range(len(self._kinds))]

    def queue(self, job: Job, least: int) -> Hashable:
        """Return the identifier of the queue for jobs that may use the same kinds and need `least` GPUs."""
        return self.kinds(job), least

    def fits(self, queue: Any) -> bool:
        """Check whether enough GPUs are free for any one job of a queue."""
        kinds, least = queue
        return bool(sum(self._free[kind] for kind in kinds) >= least)

    def kinds(self, job: Job) -> tuple[int, ...]:
        """Return the kinds that a job may use, in ascending order of memory."""
        need = (job.gpu_type, job.memory)
        if need not in self._allowed:
            self._allowed[need] = tuple(index for index, kind in enumerate(self._kinds) if kind.suits(job))
        return self._allowed[need]

    def holding(self, gpus: tuple[int, ...]) -> tuple[int, ...]:
        """Return the holding with the given numbers of GPUs, one per kind."""
        return gpus

    def room(self, job: Job) -> int:
        """Return the number of free GPUs that a job may use."""
        return sum(self._free[kind] for kind in self.kinds(job))

    def usable(self, holding: tuple[int, ...], job: Job) -> int:
        """Return the number of GPUs in a holding that a job may use."""
        return sum(holding[kind] for kind in self.kinds(job))

    def take(self, job: Job, count: int, before: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Take free GPUs for a job, and return its new holding.

        GPUs of the kinds that the job held before are taken first, then those with the least memory.
        """
        taken = [0] * len(self._free)
        kinds = self.kinds(job)
        for limit in (self._free if before is None else before, self._free):
            for kind in kinds:
                part = min(self._free[kind], limit[kind], count)
                self._free[kind] -= part
                taken[kind] += part
                count -= part
        return tuple(taken)

    def give_back(self, holding: tuple[int, ...]) -> None:
        """Return the GPUs of a holding to the pool."""
        self._free = [free + part for free, part in zip(self._free, holding, strict=True)]

    def actions(
        self,
        state: State,
        before: Mapping[int, tuple[int, ...] | None],
        after: Mapping[int, tuple[int, ...] | None],
    ) -> list[Action]:
        """Return the actions that change one allocation into another, with GPU indices.

        A job keeps as many of its GPUs of each kind as possible, and its new GPUs are close together.
        """
        changed = [job for job in before if before[job] != after[job]]
        if not changed:
            return []
        own = {job: self._by_kind(state.placement(job)) for job in changed if before[job] is not None}
        free = list(state.free_gpus())
        for job, gpus in own.items():
            for kind, count in enumerate(after[job] or (0,) * len(gpus)):
                free += gpus[kind][count:]
                del gpus[kind][count:]
        by_kind = _FreeGpusByKind(self._cluster, sorted(free), self._machines)
        stops: list[Action] = [Stop(job) for job in changed if after[job] is None]
        others: list[Action] = []
        for job in changed:
            if (holding := after[job]) is not None:
                kept = own.get(job) or self._by_kind(())
                chosen = [gpu for gpus in kept for gpu in gpus]
                for kind, count in enumerate(holding):
                    chosen += by_kind.take(kind, count - len(kept[kind]))
                named = tuple(sorted(chosen))
                others.append(Start(job, named) if before[job] is None else Resize(job, named))
        return stops + others

    def _by_kind(self, gpus: Iterable[int]) -> list[list[int]]:
        lists: list[list[int]] = [[] for _ in self._machines]
        for gpu in gpus:
            lists[self._kind_of[gpu]].append(gpu)
        return lists


#: The free GPUs that a decision can still hand out.
Pool = Count | Kinds


class _FreeGpusByKind:
    """The indices of the free GPUs, from which jobs take GPUs of one kind that are close together."""

    def __init__(self, cluster: Cluster, free: Iterable[int], machines: Sequence[Sequence[int]]) -> None:
        self._machine_of = cluster.machine_of
        self._free: list[list[int]] = [[] for _ in cluster.machines]
        for gpu in free:
            self._free[self._machine_of[gpu]].append(gpu)
        self._cluster, self._machines = cluster, machines
        self._by_kind: dict[int, FreeGpus] = {}

    def take(self, kind: int, count: int) -> Sequence[int]:
        """Take `count` free GPUs of the given kind, and return their indices."""
        if count == 0:
            return ()
        if kind not in self._by_kind:
            self._by_kind[kind] = FreeGpus(self._cluster, self._machines[kind], self._free)
        free = self._by_kind[kind]
        chosen = consolidated(free, count)
        for gpu in chosen:
            machine = self._machine_of[gpu]
            before = len(self._free[machine])
            self._free[machine].remove(gpu)
            free.recount(machine, before, before - 1)
        return chosen


def size(holding: Holding | None) -> int:
    """Return the number of GPUs in a holding, or 0 if it is None."""
    if holding is None:
        return 0
    return holding if isinstance(holding, int) else sum(holding)
