"""Nodes: a choice of nodes and GPUs for jobs such that few jobs move."""

from collections.abc import Iterable, Mapping
from itertools import groupby

from gsopt.simulation import State

#: A job's number of GPUs on each node, by node number; nodes on which it has none are omitted.
Spread = dict[int, int]


class Nodes:
    """The available GPUs of each node, and the GPUs that every running job has on each node.

    Parameters
    ----------
    state
        The current state of the run.
    gpu_type
        The GPU type to consider; None for all types.

    Attributes
    ----------
    held
        The number of GPUs on each node, for every running job that has GPUs of the considered type only.
    gpus
        Total number of available GPUs of the considered type.
    """

    def __init__(self, state: State, gpu_type: str | None = None) -> None:
        self._state = state
        gpus = {gpu for job in state.running for gpu in state.placement(job)}.union(state.free_gpus())
        if gpu_type is not None:
            kinds = [machine.gpu_type for machine in state.cluster.machines]
            gpus = {gpu for gpu in gpus if kinds[state.cluster.machine_of[gpu]] == gpu_type}
        self._gpus = [list(own) for _, own in groupby(sorted(gpus), state.cluster.machine_of.__getitem__)]
        node_of = {gpu: node for node, own in enumerate(self._gpus) for gpu in own}
        places = {job: state.placement(job) for job in state.running}
        self.held = {
            job: _counted(map(node_of.__getitem__, own)) for job, own in places.items() if gpus.issuperset(own)
        }
        self.gpus = len(gpus)

    def spread(self, wanted: Mapping[int, int], allowed: Mapping[int, Iterable[int]]) -> dict[int, Spread]:
        """Choose nodes for jobs, given the number of GPUs that each should get.

        A job whose number of GPUs does not change stays where it is, unless other jobs need entire nodes. Any
        other job gets the fullest node with enough free GPUs. If there is none, a job that needs at least one
        entire node gets empty nodes of the largest size, and part of one more node for the rest; if there are
        too few empty nodes, other jobs are moved away. If the cluster has too few nodes of that size, the job
        gets the nodes with the most free GPUs.

        A job that does not fit in this way keeps the GPUs on which it runs if these are still free. Otherwise,
        it gets the largest allowed number that fits on a node, or none.
        """
        self._free = list(map(len, self._gpus))
        self._placed: dict[int, Spread] = {}
        for job, count in wanted.items():
            if sum(self.held.get(job, {}).values()) == count:
                self._put(job, self.held[job])
        missed = [
            job
            for job in sorted(wanted.keys() - self._placed.keys(), key=lambda job: (-wanted[job], job))
            if not self._fit(job, wanted[job])
        ]
        for job in missed:
            if self._fits(self.held.get(job, {})):
                self._put(job, self.held[job])
                continue
            most = min(max(self._free, default=0), wanted[job])
            smaller = [count for count in allowed[job] if count <= most]
            if smaller:
                self._fit(job, max(smaller))
        return {job: spread for job, spread in self._placed.items() if spread}

    def gpus_of(self, spreads: Mapping[int, Spread]) -> dict[int, tuple[int, ...]]:
        """Choose GPUs for jobs, given how many each job gets on each node.

        A job whose numbers do not change keeps its GPUs.
        """
        kept = {
            job: self._state.placement(job) for job, spread in spreads.items() if self.held.get(job) == spread
        }
        taken = {gpu for gpus in kept.values() for gpu in gpus}
        free = [[gpu for gpu in reversed(gpus) if gpu not in taken] for gpus in self._gpus]
        chosen = {
            job: tuple(free[node].pop() for node, count in sorted(spread.items()) for _ in range(count))
            for job, spread in spreads.items()
            if job not in kept
        }
        return kept | chosen

    def _put(self, job: int, spread: Spread) -> None:
        for node, count in self._placed.pop(job, {}).items():
            self._free[node] += count
        for node, count in spread.items():
            self._free[node] -= count
        self._placed[job] = spread

    def _fits(self, spread: Spread) -> bool:
        return bool(spread) and all(self._free[node] >= count for node, count in spread.items())

    def _fit(self, job: int, count: int) -> bool:
        """Put a job on the fullest node with enough free GPUs, or on empty nodes and part of one more."""
        node = self._fullest(count)
        if node is not None:
            self._put(job, {node: count})
            return True
        size = max(map(len, self._gpus))
        if count < size:
            return False
        whole, rest = divmod(count, size)
        if sum(len(own) == size for own in self._gpus) < whole:
            return self._scatter(job, count)  # there never are as many nodes of this size
        empty = self._emptied(whole, size)
        if len(empty) < whole:
            return False
        spread = dict.fromkeys(empty[:whole], size)
        if rest:
            node = self._fullest(rest, spread)
            if node is None:
                return False
            spread[node] = rest
        self._put(job, spread)
        return True

    def _scatter(self, job: int, count: int) -> bool:
        """Put a job on the nodes with the most free GPUs, and return whether there are enough."""
        spread: Spread = {}
        for node in sorted(range(len(self._free)), key=lambda node: -self._free[node]):
            spread[node] = min(self._free[node], count - sum(spread.values()))
        spread = {node: gpus for node, gpus in spread.items() if gpus}
        if sum(spread.values()) < count:
            return False
        self._put(job, spread)
        return True

    def _fullest(self, count: int, but: Iterable[int] = ()) -> int | None:
        """Return the node with the fewest free GPUs that suffice, ties going to the first, or None."""
        nodes = (node for node, free in enumerate(self._free) if free >= count and node not in but)
        return min(nodes, key=self._free.__getitem__, default=None)

    def _emptied(self, wanted: int, size: int) -> list[int]:
        """Return empty nodes of a size, after emptying others if there are fewer than `wanted`."""
        empty = [node for node, free in enumerate(self._free) if free == size]
        used = sorted(
            (node for node in range(len(self._free)) if node not in empty), key=lambda n: -self._free[n]
        )
        for node in used:
            if len(empty) >= wanted:
                break
            if len(self._gpus[node]) == size and self._clear(node, empty):
                empty.append(node)
        return empty

    def _clear(self, node: int, empty: Iterable[int]) -> bool:
        """Move all jobs of a node to others, if each runs on this node only and fits elsewhere."""
        there = [job for job, spread in self._placed.items() if node in spread]
        there.sort(key=lambda job: (-self._placed[job][node], job))
        if any(len(self._placed[job]) > 1 for job in there):
            return False
        before = list(self._free)
        moves: dict[int, int] = {}
        for job in there:
            count = self._placed[job][node]
            target = self._fullest(count, {node, *empty})
            if target is None:
                self._free = before
                return False
            self._free[target] -= count
            moves[job] = target
        self._free = before
        for job, target in moves.items():
            self._put(job, {target: sum(self._placed[job].values())})
        return True


def _counted(nodes: Iterable[int]) -> Spread:
    found: Spread = {}
    for node in nodes:
        found[node] = found.get(node, 0) + 1
    return found
