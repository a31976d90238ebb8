"""Shapes: how many GPUs a placement has on each machine, and of which types."""

from collections import Counter
from collections.abc import Sequence

from gsopt.scenario.cluster import ISLAND, Cluster, Tier

#: Tiers inside a machine.
_WITHIN = frozenset({Tier.MACHINE, ISLAND})


class Shapes:
    """A calculator of shapes. The shape of a placement is its number of GPUs on each machine that it uses."""

    def __init__(self, cluster: Cluster) -> None:
        self._machine_of = cluster.machine_of
        self._machines = sorted(cluster.machines, key=lambda machine: -machine.gpus)
        self._types = [machine.gpu_type for machine in cluster.machines]
        self._rooms = {gpu_type: cluster.room(gpu_type) for gpu_type in cluster.gpu_types}

    def of(self, gpus: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the given GPUs, in the order of the machines."""
        machines = Counter(self._machine_of[gpu] for gpu in gpus)
        return tuple(machines[machine] for machine in sorted(machines))

    def types(self, gpus: Sequence[int]) -> list[str]:
        """Return the distinct types of the given GPUs, in alphabetical order."""
        return sorted({self._types[self._machine_of[gpu]] for gpu in gpus})

    def types_with(self, count: int) -> list[str]:
        """Return the types of which the cluster has at least `count` GPUs."""
        return [gpu_type for gpu_type, gpus in self._rooms.items() if gpus >= count]

    def closest(self, count: int, tier: str, gpu_type: str | None = None) -> tuple[int, ...]:
        """Return the shape of `count` GPUs on as few machines as possible.

        If the tier is wider than a machine, several GPUs are spread over at least two machines. Only machines
        with GPUs of `gpu_type` are used; None allows all types.
        """
        left, shape = count, []
        for machine in self._machines:
            if left and gpu_type in (None, machine.gpu_type):
                shape.append(min(machine.gpus, left))
                left -= shape[-1]
        if len(shape) == 1 < count and tier not in _WITHIN:
            return count - 1, 1
        return tuple(shape)
