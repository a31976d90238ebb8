"""Starts: the GPUs and sub-batches with which a waiting job starts, alone or on shared GPUs.

Sub-batches are explained in `gsopt.simulation.parts.accumulation`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from gsopt.scenario.job import DEFAULT_MODE, Job
from gsopt.simulation.parts.accumulation import fits, memory_left, sub_batches
from gsopt.simulation.parts.partners import Partner
from gsopt.simulation.placer import Placer
from gsopt.simulation.policy import Start, State


def on_free(state: State, job: int, placer: Placer | None = None) -> Start | None:
    """Return the action that starts a job on free GPUs, or None if there are too few.

    If the cluster has enough GPUs, free or not, with enough memory for the whole batch, the batch is not
    divided, and the GPUs are chosen by `placer` or, if it is None, by the placer of the run. Otherwise, the job
    starts with the largest sub-batches that fit, on free GPUs of the machines with the most free GPUs.
    """
    gpus = state.offer(job, placer)
    if gpus is not None:
        return Start(job, gpus or None)
    item = state.jobs[job]
    if len(sub_batches(item)) == 1 or _may_be_whole(state, item):
        return None
    free = _usable(state, item)
    if len(free) < item.gpus:
        return None
    return _in_sub_batches(state, job, _nearest(state, free, (), item.gpus), {DEFAULT_MODE})


def beside(state: State, job: int, found: Sequence[Partner], *, free_first: bool = False) -> Start | None:
    """Return the action that starts a job on its best partners' GPUs, or None if it cannot start there.

    `found` lists the partners, the best first. If they have too few GPUs, free GPUs are added. With
    `free_first`, free GPUs are used first, and the result is None if they suffice. The job cannot start if
    there are too few GPUs in all, or if not even its smallest sub-batches fit into the memory.
    """
    if not found:
        return None
    item = state.jobs[job]
    free = _usable(state, item)
    shared, modes = _taken(found, max(item.gpus - len(free), 0) if free_first else item.gpus)
    gpus = shared + _nearest(state, free, shared, item.gpus - len(shared))
    if not shared or len(gpus) < item.gpus:
        return None
    return _in_sub_batches(state, job, gpus, modes)


def _may_be_whole(state: State, job: Job) -> bool:
    """Check whether enough GPUs of the cluster, free or not, have memory for a job's whole batch."""
    suitable = (
        each.gpus
        for each in state.cluster.machines
        if job.gpu_type in ("", each.gpu_type) and fits(job, DEFAULT_MODE, each.memory)
    )
    return state.cluster.is_plain or sum(suitable) >= job.gpus


def _taken(found: Iterable[Partner], count: int) -> tuple[tuple[int, ...], set[str]]:
    """Return at most `count` GPUs of the first partners, and the modes chosen for these partners."""
    shared: list[int] = []
    modes: set[str] = set()
    for partner in found:
        if len(shared) == count:
            break
        shared += partner.gpus[: count - len(shared)]
        modes.add(partner.mode)
    return tuple(shared), modes


def _usable(state: State, job: Job) -> tuple[int, ...]:
    """Return the free GPUs on which a job may run in at least one of its sub-batch sizes."""
    free = state.free_gpus(job.gpu_type)
    least = min(job.memory_in(name) or 0 for name in sub_batches(job))
    if not least:
        return free
    return tuple(gpu for gpu in free if (left := state.memory(gpu)) is None or least <= left)


def _nearest(state: State, free: tuple[int, ...], shared: Iterable[int], count: int) -> tuple[int, ...]:
    """Return `count` free GPUs, first on the machines of shared GPUs, then on those with the most room."""
    if count <= 0:
        return ()
    machine_of = state.cluster.machine_of
    own = {machine_of[gpu] for gpu in shared}
    room = Counter(machine_of[gpu] for gpu in free)

    def rank(gpu: int) -> tuple[bool, int, int]:
        machine = machine_of[gpu]
        return machine not in own, -room[machine], gpu

    return tuple(sorted(free, key=rank)[:count])


def _in_sub_batches(state: State, job: int, gpus: Collection[int], modes: set[str]) -> Start | None:
    """Return the action that starts a job with the smallest sub-batches of `modes`, or with smaller ones.

    Among these, the largest sub-batches that fit into the memory of the GPUs are used. The result is None if
    none fit.
    """
    names = sub_batches(state.jobs[job])
    chosen = tuple(sorted(gpus))
    left = memory_left(state, chosen)
    for name in names[max(map(names.index, modes)) :]:
        if fits(state.jobs[job], name, left):
            return Start(job, chosen, name)
    return None
