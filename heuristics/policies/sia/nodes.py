"""Nodes: the nodes of a cluster for each kind of GPU, and the configurations that they allow."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gsopt.problems.configuration import Shape, shapes
from gsopt.scenario.cluster import Cluster
from gsopt.simulation.parts.inventory import GpuKind, kinds_of
from gsopt.simulation.policy import State


class PoolNode(NamedTuple):
    """A machine: its index among all machines, and the indices of its GPUs, or of the available ones."""

    place: int
    gpus: tuple[int, ...]


@dataclass(frozen=True)
class AvailableNodes:
    """For each kind of GPU: how many are available now, on which nodes, and how many the largest nodes have."""

    gpus: Mapping[str, int]  # of each kind
    nodes: Mapping[str, list[PoolNode]]  # of each kind; none in a plain cluster
    per_node: Mapping[str, int]  # GPUs of the largest nodes of each kind, available or not


class NodePool:
    """The nodes of a cluster for each kind of GPU.

    A plain cluster, which is just a number of GPUs, counts as a single node. Its GPUs have no indices.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.kinds: Mapping[str, GpuKind] = kinds_of(cluster)
        names = {kind: name for name, kind in self.kinds.items()}
        self._cluster = cluster
        self._nodes: dict[str, list[PoolNode]] = {name: [] for name in self.kinds}
        for place, machine in enumerate(cluster.machines):
            name = names[GpuKind(machine.gpu_type, machine.memory)]
            self._nodes[name].append(PoolNode(place, tuple(cluster.gpus_of[machine.name])))

    @property
    def is_plain(self) -> bool:
        """Whether the cluster is just a number of GPUs, which have no indices."""
        return self._cluster.is_plain

    def available(self, state: State) -> AvailableNodes:
        """Return the GPUs and nodes that are available now."""
        per_node = {name: self._whole(name)[1] for name in self.kinds}
        if self.is_plain:
            return AvailableNodes(dict.fromkeys(self.kinds, state.capacity), {}, per_node)
        there = {*state.free_gpus(), *(gpu for job in state.running for gpu in state.placement(job))}
        nodes = {
            name: [
                PoolNode(node.place, left)
                for node in every
                if (left := tuple(gpu for gpu in node.gpus if gpu in there))
            ]
            for name, every in self._nodes.items()
        }
        gpus = {name: sum(len(node.gpus) for node in some) for name, some in nodes.items()}
        return AvailableNodes(gpus, nodes, per_node)

    def all_shapes(self) -> list[Shape]:
        """Return all configurations on the largest nodes of each kind, as if all their GPUs were available."""
        return [shape for name in self.kinds for shape in shapes(name, *self._whole(name))]

    def shape(self, name: str, gpus: int) -> Shape | None:
        """Return the configuration with `gpus` GPUs of one kind.

        Its number of nodes is the smallest that would suffice if all nodes were as large as the largest. Return
        None if the cluster has fewer GPUs of that kind.
        """
        nodes, per_node = self._whole(name)
        total = sum(len(node.gpus) for node in self._nodes[name]) or nodes * per_node
        return Shape(type=name, nodes=-(-gpus // per_node), gpus=gpus) if gpus <= total else None

    def example(self, shape: Shape) -> tuple[int, ...]:
        """Return example GPUs for a configuration, available or not; () in a plain cluster."""
        largest = sorted(self._nodes[shape.type], key=lambda node: -len(node.gpus))
        return tuple(gpu for node in largest for gpu in node.gpus)[: shape.gpus]

    def _whole(self, name: str) -> tuple[int, int]:
        """Return how many nodes of one kind are the largest, and how many GPUs each of these has."""
        if self.is_plain:
            return 1, self._cluster.gpus
        sizes = [len(node.gpus) for node in self._nodes[name]]
        return sizes.count(max(sizes)), max(sizes)
