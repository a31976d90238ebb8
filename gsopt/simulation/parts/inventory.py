"""Inventory: what kinds of GPUs there are, how fast jobs of fixed size are on each, and where they go."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gsopt.core.errors import Unsupported
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import DEFAULT_MODE, Job
from gsopt.simulation.policy import Assign, State

#: What the GPUs of a cluster without types are called.
ANY = "gpu"


class GpuKind(NamedTuple):
    """A type of GPU with its memory; None when memory is not looked at."""

    gpu_type: str
    memory: int | None


class Inventory:
    """The GPUs of a cluster by kind, for policies that run a job on its demanded GPUs, all of one kind.

    Kinds have names, and stand in the order in which the cluster lists their types, the least memory first. A
    job runs in its default mode, or in a mode that it has for a type of GPU, whichever is the fastest there.
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
        """Take stock of the GPUs that are there."""
        if state.cluster.is_plain:
            self.counts = {ANY: state.capacity}
            return
        held = [gpu for job in state.running for gpu in state.placement(job)]
        there = {*state.free_gpus(), *held}
        self._there = {name: [gpu for gpu in gpus if gpu in there] for name, gpus in self._numbers.items()}
        self.counts = {name: len(gpus) for name, gpus in self._there.items()}

    def enter(self, state: State, job: int) -> None:
        """Find out on which kinds a job that has come can run, and in which mode."""
        self._modes[job] = self._best_modes(state, job)

    def kinds_of(self, job: int) -> list[str]:
        """Name the kinds on which a job can run."""
        return list(self._modes[job])

    def kinds_with_room(self, state: State, job: int) -> list[str]:
        """Name the kinds of which as many GPUs are there as a job demands, and on which it can run."""
        return [name for name in self._modes[job] if self.counts[name] >= state.jobs[job].gpus]

    def rate(self, state: State, job: int, name: str, beside: Sequence[int] = ()) -> Any:
        """Return the speed of a job on a kind on which it can run, on GPUs as close together as they get."""
        return self._rate(state, job, name, self._modes[job][name], beside)

    def steps(self, state: State, job: int, name: str, beside: Sequence[int] = ()) -> Any:
        """Return the steps per second of a job on a kind; None where its batches or samples are not known."""
        item, mode = state.jobs[job], self._modes[job][name]
        batch_size = _batch_size(item, mode)
        if item.training is None or batch_size is None:
            return None
        number = type(state.now)
        samples = number(item.samples_in(mode)) / number(item.duration)
        return self.rate(state, job, name, beside) * samples / batch_size

    def leave(self, job: int) -> None:
        """Forget a job that has gone."""
        del self._modes[job]

    def assign(
        self, state: State, chosen: Mapping[int, str], beside: Mapping[int, int] | None = None
    ) -> Assign:
        """Let jobs run on GPUs of kinds, of which enough are there, and nobody else.

        The largest are placed first, jobs of one size where they are if they run on that kind and no larger
        job has taken their GPUs, and then the others on the first GPUs by number.
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
                f"job {item.name!r} demands {item.gpus} GPUs, more than there are of any kind for it"
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
    """Name the kinds of GPUs of a cluster, in the order in which it lists their types, the least memory first.

    A kind is named by its type, and by its memory where the type has several.
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
    """Name the modes of a job for its demanded GPUs of a kind: the default mode, and those for its type."""
    names = [DEFAULT_MODE, *(mode.name for mode in job.modes if mode.gpu_type)]
    return [
        name
        for name in names
        if job.gpus in job.speeds[name]
        and job.gpu_type_in(name) in {"", kind.gpu_type}
        and (kind.memory is None or (job.memory_in(name) or 0) <= kind.memory)
    ]


def _gpus_of(cluster: Cluster, kind: GpuKind) -> list[int]:
    """Return the GPUs of a kind by number; none in a plain cluster, whose GPUs have no numbers."""
    machines = [each for each in cluster.machines if GpuKind(each.gpu_type, each.memory) == kind]
    return [gpu for machine in machines for gpu in cluster.gpus_of[machine.name]]


def _closest(cluster: Cluster, gpus: Sequence[int]) -> tuple[int, ...]:
    """Put GPUs of large machines first, so that the first of them stand as close together as they can."""
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
