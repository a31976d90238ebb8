"""Nodes: the machines that have GPUs now, and the choice of GPUs for jobs on them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

from gsopt.simulation.policy import Allocation, State

#: A job's number of GPUs on each node.
Vector = tuple[int, ...]


class Nodes:
    """The machines that have GPUs now, with their sizes. A plain cluster counts as one machine.

    Parameters
    ----------
    state
        The current state of the run.
    most
        Largest number of GPUs per node; larger machines count as several nodes. None for no limit.
    """

    def __init__(self, state: State, most: int | None = None) -> None:
        held = {gpu for job in state.running for gpu in state.placement(job)}
        there = sorted(held.union(state.free_gpus()))  # of a machine some may have gone
        machines = [list(gpus) for _, gpus in groupby(there, state.cluster.machine_of.__getitem__)]
        self._gpus = [
            own[first : first + size]
            for own in machines
            for size in [most or len(own)]
            for first in range(0, len(own), size)
        ]
        kinds = [machine.gpu_type for machine in state.cluster.machines]
        self._types = [kinds[state.cluster.machine_of[gpus[0]]] for gpus in self._gpus]
        self._node_of = {gpu: node for node, gpus in enumerate(self._gpus) for gpu in gpus}
        self.sizes = [len(gpus) for gpus in self._gpus] or [state.capacity] * (state.capacity > 0)

    def most_gpus(self, number: int) -> int:
        """Return the largest total number of GPUs on the given number of nodes."""
        return sum(sorted(self.sizes, reverse=True)[:number])

    def of_one_type(self, vector: Vector) -> Vector:
        """Return a vector that keeps only the GPUs of the most frequent type; ties go to the last type."""
        counts = Counter[str]()
        for gpu_type, count in zip(self._types, vector, strict=False):
            counts[gpu_type] += count
        if len(counts) <= 1:
            return vector
        most = max(reversed(counts), key=counts.__getitem__)
        return tuple(count * (gpu_type == most) for gpu_type, count in zip(self._types, vector, strict=True))

    def vector(self, state: State, job: int) -> Vector:
        """Return the number of GPUs of a job on each node, or an empty vector if it has none."""
        if job not in state.running:
            return ()
        if not self._gpus:
            return (state.running[job],)
        held = [self._node_of[gpu] for gpu in state.placement(job)]
        return tuple(held.count(node) for node in range(len(self.sizes)))

    def places(self, state: State, vectors: Mapping[int, Vector]) -> dict[int, Allocation]:
        """Choose GPUs for jobs, given how many each job gets on each node.

        A job whose numbers do not change keeps its GPUs.
        """
        if not self._gpus:
            return {job: sum(vector) for job, vector in vectors.items()}
        kept = {job: state.placement(job) for job in vectors if self.vector(state, job) == vectors[job]}
        taken = {gpu for gpus in kept.values() for gpu in gpus}
        free = [[gpu for gpu in reversed(gpus) if gpu not in taken] for gpus in self._gpus]
        return {job: kept[job] if job in kept else _popped(free, vector) for job, vector in vectors.items()}


def _popped(free: Sequence[list[int]], vector: Vector) -> tuple[int, ...]:
    """Remove the given number of free GPUs from each node, and return these GPUs."""
    return tuple(free[node].pop() for node, count in enumerate(vector) for _ in range(count))
