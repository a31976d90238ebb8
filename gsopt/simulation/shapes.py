"""Shapes: the number of GPUs of a placement on each machine."""

from collections import Counter
from collections.abc import Sequence

from gsopt.scenario.cluster import ISLAND, Cluster, Tier

#: Tiers that are within a machine.
_WITHIN = frozenset({Tier.MACHINE, ISLAND})


class Shapes:
    """The shapes of placements: their numbers of GPUs on each machine."""

    def __init__(self, cluster: Cluster) -> None:
        self._machine_of = cluster.machine_of
        self._sizes = sorted((machine.gpus for machine in cluster.machines), reverse=True)

    def of(self, gpus: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of GPUs by number, in the order of the machines."""
        machines = Counter(self._machine_of[gpu] for gpu in gpus)
        return tuple(machines[machine] for machine in sorted(machines))

    def closest(self, count: int, tier: str) -> tuple[int, ...]:
        """Return the shape of `count` GPUs on the fewest machines, at least two if the tier joins machines."""
        left, shape = count, []
        for size in self._sizes:
            if left:
                shape.append(min(size, left))
                left -= shape[-1]
        if len(shape) == 1 < count and tier not in _WITHIN:
            return count - 1, 1
        return tuple(shape)
