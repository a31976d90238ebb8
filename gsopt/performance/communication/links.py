"""Links: the conversion of a cluster's links to wires."""

from collections.abc import Iterator, Mapping

from gsopt.core.errors import InvalidInput, require
from gsopt.performance.communication.wire import Wire, Wiring
from gsopt.scenario.cluster import Cluster, Link
from gsopt.scenario.cluster.switch import ISLAND, MACHINE


def wires_of(cluster: Cluster, *, rings: tuple[str, ...] = ()) -> Mapping[str, Wire]:
    """Return the wires on every level of a cluster, for use in `layout`.

    The wires of a level are the links of the units below it. Since an all-reduce is only as fast as its slowest
    link, the wires of a level have the lowest rate and the longest latency of any of its links. A message
    between neighbours passes two links, one up and one down, unless the level is a ring.

    Parameters
    ----------
    cluster
        The cluster.
    rings
        Names of the levels whose units form a ring, such as ``machine`` for the GPUs of each machine. Units on
        all other levels are behind a switch.

    Raises
    ------
    InvalidInput
        A link that the wires depend on is unknown, or a name in `rings` is not a level.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Machine, Switch
    >>> near, far = Link(bandwidth=300e9, latency=1e-7), Link(bandwidth=50e9, latency=1e-6)
    >>> machines = [Machine(name=name, gpus=8, gpu_link=near, uplink=far) for name in "ab"]
    >>> cluster = Cluster(network=Switch(name="spine", level="network", machines=machines))
    >>> {level: wire.bandwidth for level, wire in wires_of(cluster).items()}
    {'machine': 300000000000.0, 'network': 50000000000.0}
    """
    for level in rings:
        require(level in cluster.levels, "rings", level, f"must be levels: {', '.join(cluster.levels)}")
    found: dict[str, Wire] = {}
    for level, name, link in _links(cluster):
        if link is None:
            raise InvalidInput(f"link of {name!r}", "", f"must be known for the wires of level {level}")
        wiring = Wiring.RING if level in rings else Wiring.SWITCH
        wire = Wire(bandwidth=link.rate, latency=link.latency, wiring=wiring)
        found[level] = _slower(found.get(level, wire), wire)
    return {level: found[level] for level in cluster.levels if level in found}


def _slower(one: Wire, other: Wire) -> Wire:
    bandwidth, latency = min(one.bandwidth, other.bandwidth), max(one.latency, other.latency)
    return Wire(bandwidth=bandwidth, latency=latency, wiring=one.wiring)


def _links(cluster: Cluster) -> Iterator[tuple[str, str, Link | None]]:
    """Yield every link with the level to which it leads and the name of the unit below it."""
    for switch in cluster.switches:
        for child in switch.switches:
            yield switch.level, child.name, child.uplink
        for machine in switch.machines:
            yield switch.level, machine.name, machine.uplink
    for machine in cluster.machines:
        yield ISLAND if machine.islands else MACHINE, machine.name, machine.gpu_link
        for island in machine.islands:
            yield MACHINE, island.name, island.uplink
