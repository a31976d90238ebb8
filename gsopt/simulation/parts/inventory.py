"""Inventory: a cluster's kinds of GPUs, with the speed and placement of rigid jobs on each kind."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gsopt.core.errors import Unsupported
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import DEFAULT_MODE, Job
from gsopt.simulation.policy import Assign, State

#: Name of the kind that consists of GPUs without a type.
ANY = "gpu"


class GpuKind(NamedTuple):
    """A kind of GPU: its type, and its memory in bytes (None if unlimited)."""

    gpu_type: str
    memory: int | None

    def suits(self, job: Job, mode: str = DEFAULT_MODE) -> bool:
        """Check whether a job may use GPUs of this kind in a mode."""
        needed = job.memory_in(mode) or 0
        return job.gpu_type_in(mode) in ("", self.gpu_type) and (self.memory is None or needed <= self.memory)


class Inventory:
    """The GPUs of a cluster by kind, for policies that run each rigid job on GPUs of a single kind.

    Each job runs on as many GPUs as it demands. Kinds have names. They are in the cluster's order of types and,
    within a type, in ascending order of memory, with unlimited memory first. On each kind, a job runs in the
    fastest mode among its default mode and its modes for GPU types.
    """

    def __init__(self, state: State) -> None:
        self.kinds = kinds_of(state.cluster)
        self.counts: Mapping[str, int] = {}
        self._numbers = {name: _gpus_of(state.cluster, kind) for name, kind in self.kinds.items()}
        self._sizes = {name: len(gpus) or state.cluster.gpus for name, gpus in self._numbers.items()}
        self._closest = {name: _closest(state.cluster, gpus) for name, gpus in self._numbers.items()}
        self._there: Mapping[str, list[int]] = {}
        self._modes: dict[int, Mapping[str, str]] = {}  # of each job, by the kinds on which it can run

    def look(self, state: State) -> None:
        """Count the available GPUs of every kind."""
        if state.cluster.is_plain:
            self.counts = {ANY: state.capacity}
            return
        held = [gpu for job in state.running for gpu in state.placement(job)]
        there = {*state.free_gpus(), *held}
        self._there = {name: [gpu for gpu in gpus if gpu in there] for name, gpus in self._numbers.items()}
        self.counts = {name: len(gpus) for name, gpus in self._there.items()}

    def enter(self, state: State, job: int) -> None:
        """Find a new job's kinds, and its best mode on each; raise `Unsupported` if it can run on no kind."""
        self._modes[job] = self._best_modes(state, job)

    def kinds_of(self, job: int) -> list[str]:
        """Return the names of the kinds on which a job can run."""
        return list(self._modes[job])

    def kinds_with_room(self, state: State, job: int) -> list[str]:
        """Return the names of a job's kinds that have enough available GPUs for it, whether in use or not."""
        return [name for name in self._modes[job] if self.counts[name] >= state.jobs[job].gpus]

    def rate(self, state: State, job: int, name: str, beside: Sequence[int] = ()) -> Any:
        """Return a job's speed on GPUs of a kind that are close together, shared with the jobs in `beside`."""
        return self._rate(state, job, name, self._modes[job][name], beside)

    def steps(self, state: State, job: int, name: str, beside: Sequence[int] = ()) -> Any:
        """Return a job's steps per second on the given kind; None if its batch size or samples are unknown."""
        item, mode = state.jobs[job], self._modes[job][name]
        batch_size = _batch_size(item, mode)
        if item.training is None or batch_size is None:
            return None
        number = type(state.now)
        samples = number(item.samples_in(mode)) / number(item.duration)
        return self.rate(state, job, name, beside) * samples / batch_size

    def mode(self, job: int, name: str) -> str:
        """Return the mode in which a job runs on the given kind."""
        return self._modes[job][name]

    def shape(self, state: State, job: int, name: str) -> tuple[int, ...]:
        """Return the number of GPUs on each machine if a job's GPUs of the given kind are close together."""
        count, gpus = state.jobs[job].gpus, self._closest[name]
        return tuple(Counter(map(state.cluster.machine_of.__getitem__, gpus[:count])).values()) or (count,)

    def leave(self, job: int) -> None:
        """Remove a completed job."""
        del self._modes[job]

    def assign(
        self, state: State, chosen: Mapping[int, str], beside: Mapping[int, int] | None = None
    ) -> Assign:
        """Return the action that runs jobs on their chosen kinds.

        `beside` maps a job to the job whose GPUs it joins.

        Every kind must have enough GPUs. The largest jobs are placed first. Among jobs of the same size,
        those that already run on their kind keep their GPUs, unless another job has taken one of them. The
        other jobs then get the first free GPUs.
        """
        if state.cluster.is_plain:
            return Assign({job: (state.jobs[job].gpus, self._modes[job][ANY]) for job in chosen})
        guests = beside or {}
        placed: dict[int, tuple[int, ...]] = {}
        for name in self.kinds:
            own = [job for job, kind in chosen.items() if kind == name and job not in guests]
            placed |= self._place(state, name, own)
        placed |= {job: placed[other] for job, other in guests.items()}
        return Assign({job: (gpus, self._modes[job][chosen[job]]) for job, gpus in placed.items()})

    def _best_modes(self, state: State, job: int) -> Mapping[str, str]:
        item, best = state.jobs[job], dict[str, str]()
        for name, kind in self.kinds.items():
            modes = modes_on(item, kind) if item.gpus <= self._sizes[name] else []
            if modes:
                best[name] = max(modes, key=lambda mode: self._rate(state, job, name, mode))
        if not best:
            raise Unsupported(
                f"job {item.name!r} demands {item.gpus} GPUs, more than there are of any suitable kind"
            )
        return best

    def _rate(self, state: State, job: int, name: str, mode: str, beside: Sequence[int] = ()) -> Any:
        count = state.jobs[job].gpus
        gpus = self._closest[name][:count] if self._closest[name] else count
        return state.rate(job, gpus, mode, beside)

    def _place(self, state: State, name: str, jobs: Sequence[int]) -> dict[int, tuple[int, ...]]:
        placed: dict[int, tuple[int, ...]] = {}
        free = dict.fromkeys(self._there[name])
        for size in sorted({state.jobs[job].gpus for job in jobs}, reverse=True):
            alike = [job for job in jobs if state.jobs[job].gpus == size]
            for job in alike:
                before = state.placement(job) if job in state.running else ()
                if before and all(gpu in free for gpu in before):
                    placed[job] = _take(free, before)
            for job in alike:
                if job not in placed:
                    placed[job] = _take(free, list(free)[:size])
        return placed


def kinds_of(cluster: Cluster) -> Mapping[str, GpuKind]:
    """Return a cluster's kinds of GPUs, keyed by name, in the order that `Inventory` describes.

    A kind is named after its type, followed by its memory if GPUs of this type differ in memory.
    """
    listed = dict.fromkeys(GpuKind(each.gpu_type, each.memory) for each in cluster.machines) or [
        GpuKind("", None)
    ]
    order = list(dict.fromkeys(kind.gpu_type for kind in listed))
    kinds = sorted(listed, key=lambda kind: (order.index(kind.gpu_type), kind.memory or 0))
    types = [kind.gpu_type for kind in kinds]
    return {
        f"{kind.gpu_type or ANY}{f' {kind.memory}' if types.count(kind.gpu_type) > 1 else ''}": kind
        for kind in kinds
    }


def modes_on(job: Job, kind: GpuKind) -> list[str]:
    """Return the modes in which a job can run on its demanded number of GPUs of the given kind.

    These are its default mode and its modes for GPU types, if they suit the type and memory of the kind.
    """
    names = [DEFAULT_MODE, *(mode.name for mode in job.modes if mode.gpu_type)]
    return [name for name in names if job.gpus in job.speeds[name] and kind.suits(job, name)]


def _gpus_of(cluster: Cluster, kind: GpuKind) -> list[int]:
    """Return the indices of all GPUs of the given kind, or an empty list if the cluster is plain."""
    machines = [each for each in cluster.machines if GpuKind(each.gpu_type, each.memory) == kind]
    return [gpu for machine in machines for gpu in cluster.gpus_of[machine.name]]


def _closest(cluster: Cluster, gpus: Sequence[int]) -> tuple[int, ...]:
    """Sort GPUs so that the first ones are close together: machines with the most of them first."""
    machine_of = cluster.machine_of
    sizes = Counter(machine_of[gpu] for gpu in gpus)
    return tuple(sorted(gpus, key=lambda gpu: (-sizes[machine_of[gpu]], gpu)))


def _batch_size(job: Job, name: str) -> int | None:
    own = next((mode.batch_size for mode in job.modes if mode.name == name), None)
    return own or job.batch_size


def _take(free: dict[int, None], gpus: Iterable[int]) -> tuple[int, ...]:
    taken = tuple(gpus)
    for gpu in taken:
        del free[gpu]
    return taken
