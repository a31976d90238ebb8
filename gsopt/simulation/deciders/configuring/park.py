"""Park: the nodes of a cluster by kind of GPU, and the configurations that they allow."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gsopt.cluster import Cluster
from gsopt.problems.configuration import Shape, shapes
from gsopt.simulation.policy import State

#: What the GPUs of a cluster without types are called.
_ANY = "gpu"


class Kind(NamedTuple):
    """GPUs that are alike: of one type, with as much memory.

    Attributes
    ----------
    gpu_type
        The type; empty where there are none.
    memory
        Bytes of each GPU; None when memory is not looked at.
    """

    gpu_type: str
    memory: int | None


class Node(NamedTuple):
    """A machine of a cluster.

    Attributes
    ----------
    place
        Its number among all machines.
    gpus
        Its GPUs by number.
    """

    place: int
    gpus: tuple[int, ...]


class Park:
    """The nodes of a cluster by kind. A plain cluster is a single node, whose GPUs have no numbers.

    Parameters
    ----------
    cluster
        The cluster.

    Attributes
    ----------
    kinds
        The kinds by name, in the order of the machines.

    Examples
    --------
    >>> park = Park(Cluster.uniform(machines=2, gpus=4))
    >>> list(park.kinds), [shape.gpus for shape in park.all_shapes()]
    (['gpu'], [1, 2, 4, 8])
    """

    def __init__(self, cluster: Cluster) -> None:
        found = [Kind(machine.gpu_type, machine.memory) for machine in cluster.machines]
        self._names = {kind: name for name, kind in _named(list(dict.fromkeys(found)) or [Kind("", None)])}
        self.kinds: Mapping[str, Kind] = {name: kind for kind, name in self._names.items()}
        self._cluster = cluster
        self._nodes: dict[str, list[Node]] = {name: [] for name in self.kinds}
        for place, machine in enumerate(cluster.machines):
            name = self._names[Kind(machine.gpu_type, machine.memory)]
            self._nodes[name].append(Node(place, tuple(cluster.gpus_of[machine.name])))

    @property
    def is_plain(self) -> bool:
        """Whether GPUs have no numbers."""
        return self._cluster.is_plain

    def nodes(self, state: State) -> Mapping[str, list[Node]]:
        """Give the nodes of each kind that are there."""
        there, machines = set(state.servers), self._cluster.machines
        return {
            name: [node for node in nodes if machines[node.place].name in there]
            for name, nodes in self._nodes.items()
        }

    def gpus(self, state: State) -> dict[str, int]:
        """Count the GPUs of each kind that are there."""
        if self.is_plain:
            return dict.fromkeys(self.kinds, state.capacity)
        return {name: sum(len(node.gpus) for node in nodes) for name, nodes in self.nodes(state).items()}

    def all_shapes(self) -> list[Shape]:
        """List the configurations of the whole cluster."""
        return [shape for name in self.kinds for shape in shapes(name, *self._whole(name))]

    def shape(self, name: str, gpus: int) -> Shape | None:
        """Give so many GPUs of a kind on as few of its nodes as hold them; None if it has fewer."""
        nodes, per_node = self._whole(name)
        total = sum(len(node.gpus) for node in self._nodes[name]) or nodes * per_node
        return Shape(type=name, nodes=-(-gpus // per_node), gpus=gpus) if gpus <= total else None

    def shape_of(self, gpus: Sequence[int]) -> Shape | None:
        """Give the configuration that GPUs by number are; None where they are of several kinds."""
        places = {self._cluster.machine_of[gpu] for gpu in gpus}
        machines = [self._cluster.machines[place] for place in places]
        kinds = {Kind(machine.gpu_type, machine.memory) for machine in machines}
        return (
            Shape(type=self._names[kinds.pop()], nodes=len(places), gpus=len(gpus)) if len(kinds) == 1 else None
        )

    def example(self, shape: Shape) -> tuple[int, ...]:
        """Give GPUs by number that are a configuration, whether they are there or not; none in a plain cluster."""
        largest = sorted(self._nodes[shape.type], key=lambda node: -len(node.gpus))
        return tuple(gpu for node in largest for gpu in node.gpus)[: shape.gpus]

    def _whole(self, name: str) -> tuple[int, int]:
        """Give the number of the largest nodes of a kind, and their GPUs."""
        if self.is_plain:
            return 1, self._cluster.gpus
        sizes = [len(node.gpus) for node in self._nodes[name]]
        return sizes.count(max(sizes)), max(sizes)


def _named(kinds: Sequence[Kind]) -> list[tuple[str, Kind]]:
    """Name kinds by their types, and by their memory where a type has several."""
    types = [kind.gpu_type for kind in kinds]
    return [
        (f"{kind.gpu_type or _ANY}{f' {kind.memory}' if types.count(kind.gpu_type) > 1 else ''}", kind)
        for kind in kinds
    ]
