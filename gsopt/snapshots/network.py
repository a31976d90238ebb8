"""Network: a cluster built from machines and their locations, such as zones and racks."""

from collections.abc import Sequence
from typing import NamedTuple

from gsopt.scenario.cluster import Cluster, Machine, Rack, Switch
from gsopt.scenario.cluster.tier import Tier

#: Separator between the name of a switch and the name of the switch above it.
_SEPARATOR = "/"


class NodePlace(NamedTuple):
    """A machine, with the level and the name of every switch above it, outermost first."""

    machine: Machine
    path: tuple[tuple[str, str], ...]


def network_of(stands: Sequence[NodePlace]) -> Cluster | None:
    """Build the cluster of the given machines, or return None if there are none.

    Switches with the same name at different locations are distinct. If the name of a switch is already taken,
    its level, the name of the switch above it, or a number is added to the name. If no locations are known,
    all machines are below one switch, and there are no racks.
    """
    if not stands:
        return None
    taken = {stand.machine.name for stand in stands}
    if all([level for level, _ in stand.path] == [Tier.RACK] for stand in stands):
        return Cluster(racks=[_rack(_free("", key, taken), held) for key, held in _groups(stands, 0).items()])
    return Cluster(network=_switch("network", "network", stands, 0, taken))


def _groups(stands: Sequence[NodePlace], depth: int) -> dict[tuple[str, str], list[NodePlace]]:
    found: dict[tuple[str, str], list[NodePlace]] = {}
    for stand in stands:
        if len(stand.path) > depth:
            found.setdefault(stand.path[depth], []).append(stand)
    return found


def _rack(name: str, stands: Sequence[NodePlace]) -> Rack:
    return Rack(name=name, machines=[stand.machine for stand in stands])


def _switch(name: str, level: str, stands: Sequence[NodePlace], depth: int, taken: set[str]) -> Switch:
    """Build a switch with everything below it.

    The recursion depth is limited by the number of labels.
    """
    above = name if depth else ""
    return Switch(
        name=name,
        level=level,
        machines=[stand.machine for stand in stands if len(stand.path) == depth],
        switches=[
            _switch(_free(above, key, taken), key[0], held, depth + 1, taken)
            for key, held in _groups(stands, depth).items()
        ],
    )


def _free(above: str, key: tuple[str, str], taken: set[str]) -> str:
    """Return a name for a switch that is not yet taken, and mark it as taken."""
    level, name = key
    names = (name, f"{level} {name}", _SEPARATOR.join(part for part in (above, name) if part))
    found = next((each for each in names if each not in taken), "")
    number = 0
    while not found or found in taken:
        number += 1
        found = f"{level} {name} {number}"
    taken.add(found)
    return found
