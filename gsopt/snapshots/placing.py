"""Placing: the problem `placement` for the waiting gangs of a cluster."""

from collections.abc import Iterable, Mapping, Sequence

from gsopt.core.errors import InvalidInput
from gsopt.problems.placement import Placement, Resources, Server, Workers
from gsopt.scenario.cluster import Cluster
from gsopt.snapshots.gang import Gang, Where
from gsopt.snapshots.node import Node
from gsopt.snapshots.valid import validly

_GPU = "gpu"


def placement_of(
    nodes: Sequence[Node], gangs: Iterable[Gang], places: Sequence[Where], network: Cluster | None
) -> Placement:
    """Create the problem of placing waiting gangs, as described in `Snapshot.placement`."""
    open_nodes = [node for node in nodes if not node.closed]
    if not open_nodes:
        raise InvalidInput("nodes", "", "must be nodes of which at least one is open")
    waiting = [(gang, part) for gang in gangs for part in gang.waiting]
    asked = [*_asked(open_nodes, [part.needs for _, part in waiting]), *(where.name for where in places)]
    with validly(""):
        workers = [
            Workers(
                job=gang.name,
                count=part.count * gang.copies,
                demand=_of(asked, part.needs.named | ({part.where: 1} if part.where else {})),
            )
            for gang, part in waiting
        ]
    most = sum(line.count for line in workers)
    open_to: dict[str, dict[str, int]] = {}
    for where in places:
        for node in where.nodes:
            open_to.setdefault(node, {})[where.name] = most
    racks = racks_of(network)
    servers = [
        Server(
            name=node.name,
            capacity=_of(asked, {**node.capacity.named, **open_to.get(node.name, {})}),
            used=_of(asked, _within(node.used.named, node.capacity.named)),
            rack=racks.get(node.name, ""),
        )
        for node in open_nodes
    ]
    return Placement(name="pending", servers=servers, workers=workers)


def racks_of(network: Cluster | None) -> dict[str, str]:
    """Return the name of the innermost switch above each machine, keyed by machine name."""
    switches = () if network is None else network.switches
    return {machine.name: switch.name for switch in switches for machine in switch.machines}


def _asked(nodes: Sequence[Node], needs: Sequence[Resources]) -> list[str]:
    """Return the names of the requested resources, except those whose amounts always equal those of GPUs."""
    names = dict.fromkeys(name for each in needs for name, amount in each.named.items() if amount)
    amounts = [*needs, *(node.capacity for node in nodes), *(node.used for node in nodes)]
    told = [each.named for each in amounts]
    return [name for name in names if name == _GPU or any(each.get(name, 0) != each[_GPU] for each in told)]


def _of(asked: Iterable[str], amounts: Mapping[str, int]) -> Resources:
    return Resources(**{name: amounts[name] for name in asked if amounts.get(name)})


def _within(used: Mapping[str, int], capacity: Mapping[str, int]) -> dict[str, int]:
    """Return the amounts in use, each limited to the capacity.

    The limit is needed because a node may have more in use than it currently offers.
    """
    return {name: min(amount, capacity.get(name, 0)) for name, amount in used.items()}
