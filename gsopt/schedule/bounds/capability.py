"""Capability: the speed of each GPU type, relative to the type on which menus were measured."""

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.scenario import Scenario


def capability(scenario: Scenario, gpu_type: str) -> float:
    """Return the speed of jobs on a GPU of the given type, relative to the speed in their menus."""
    return 1.0 / scenario.speed.gpu_types.get(gpu_type, 1.0)


class Capabilities:
    """The largest total capability that a number of GPUs can have, given their type and minimum memory."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._rooms: dict[tuple[str, int], list[tuple[float, int]]] = {}

    def of(self, count: int, gpu_type: str = "", memory: int = 0) -> float | None:
        """Return the largest total capability of `count` GPUs of the given type (of any type if empty).

        The result is None if there are fewer than `count` GPUs of this kind with enough memory.
        """
        need = (gpu_type, memory)
        if need not in self._rooms:
            self._rooms[need] = self._room(gpu_type, memory)
        worth = 0.0
        for each, there in self._rooms[need]:
            worth += each * min(count, there)
            count -= min(count, there)
        return None if count else worth

    def _room(self, gpu_type: str, memory: int) -> list[tuple[float, int]]:
        """Return the capabilities of suitable GPUs in descending order, with the number of GPUs of each."""
        cluster = self._scenario.cluster
        kinds = [gpu_type] if gpu_type else sorted({machine.gpu_type for machine in cluster.machines})
        if cluster.is_plain or not self._scenario.speed.gpu_types:
            return [(1.0, cluster.room(gpu_type, memory))]
        rooms = [(capability(self._scenario, kind), _room_of(cluster, kind, memory)) for kind in kinds]
        return sorted(rooms, reverse=True)


def _room_of(cluster: Cluster, kind: str, memory: int) -> int:
    """Count the GPUs of a type, which may be unnamed, that have at least `memory` bytes."""
    return sum(
        machine.gpus
        for machine in cluster.machines
        if machine.gpu_type == kind and (machine.memory is None or machine.memory >= memory)
    )
