"""Nodes: the machines that have GPUs, and the placement of numbers of GPUs on them."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from gsopt.simulation.policy import Allocation, State

#: GPUs of a job on each node.
Vector = tuple[int, ...]


class Nodes:
    """The machines of a cluster that have GPUs now, and their sizes. A cluster without racks is one machine."""

    def __init__(self, state: State) -> None:
        held = {gpu for job in state.running for gpu in state.placement(job)}
        there = sorted(held.union(state.free_gpus()))  # of a machine some may have gone
        self._gpus = [list(gpus) for _, gpus in groupby(there, state.cluster.machine_of.__getitem__)]
        self._node_of = {gpu: node for node, gpus in enumerate(self._gpus) for gpu in gpus}
        self.sizes = [len(gpus) for gpus in self._gpus] or [state.capacity] * (state.capacity > 0)

    def most_gpus(self, number: int) -> int:
        """Return the largest number of GPUs on a number of nodes."""
        return sum(sorted(self.sizes, reverse=True)[:number])

    def vector(self, state: State, job: int) -> Vector:
        """Return the number of GPUs of a job on each node, or an empty vector if it has none."""
        if job not in state.running:
            return ()
        if not self._gpus:
            return (state.running[job],)
        held = [self._node_of[gpu] for gpu in state.placement(job)]
        return tuple(held.count(node) for node in range(len(self.sizes)))

    def places(self, state: State, vectors: Mapping[int, Vector]) -> dict[int, Allocation]:
        """Return the GPUs of all jobs from their numbers on each node. An unchanged job keeps its GPUs."""
        if not self._gpus:
            return {job: sum(vector) for job, vector in vectors.items()}
        kept = {job: state.placement(job) for job in vectors if self.vector(state, job) == vectors[job]}
        taken = {gpu for gpus in kept.values() for gpu in gpus}
        free = [[gpu for gpu in reversed(gpus) if gpu not in taken] for gpus in self._gpus]
        return {job: kept[job] if job in kept else _popped(free, vector) for job, vector in vectors.items()}


def _popped(free: Sequence[list[int]], vector: Vector) -> tuple[int, ...]:
    """Remove the given number of GPUs of each node from the free ones, and return them."""
    return tuple(free[node].pop() for node, count in enumerate(vector) for _ in range(count))
