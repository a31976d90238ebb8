"""Returning: the nodes that may be given back, and the problem `reclaiming` for them."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from math import ceil

from gsopt.core.errors import InvalidInput, shorten
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from gsopt.snapshots.gang import Gang
from gsopt.snapshots.node import Node
from gsopt.snapshots.valid import validly

_HOUR = 3600
_DIGITS = 3  # of GPU-hours: finer than any clock of a cluster's


class Cost(StrEnum):
    """A measure of the cost of preempting a gang.

    Examples
    --------
    >>> [each.value for each in Cost]
    ['jobs', 'gpu-hours', 'priority']
    """

    JOBS = "jobs"
    GPU_HOURS = "gpu-hours"
    PRIORITY = "priority"


def check_cost(cost: str) -> None:
    """Raise `InvalidInput` if the cost is not a `Cost`."""
    if cost not in list(Cost):
        raise InvalidInput("cost", shorten(cost), f"must be one of {', '.join(Cost)}")


def chosen_nodes(nodes: Sequence[Node], among: Sequence[str] = ()) -> list[Node]:
    """Return the nodes with GPUs that have all the given labels, each ``key`` or ``key=value``.

    Raise `InvalidInput` if one of these labels is not on any node.
    """
    for label in among:
        if not any(node.has(label) for node in nodes):
            rule = "must be a label, as key or key=value, of some node"
            raise InvalidInput("among", shorten(label), rule)
    return [node for node in nodes if node.gpus and all(map(node.has, among))]


def kept_nodes(chosen: Sequence[Node], gangs: Sequence[Gang]) -> dict[str, str]:
    """Return the reasons why nodes must not be given back, keyed by the names of these nodes.

    If a gang must not be evicted, none of its nodes may be given back, because a gang that loses any part
    stops as a whole.
    """
    held: dict[str, str] = {}
    for gang in gangs:
        if gang.kept:
            for name in gang.nodes:
                held.setdefault(name, f"{gang.name}: {gang.kept}")
    reasons = ((node.name, node.kept or held.get(node.name, "")) for node in chosen)
    return {name: reason for name, reason in reasons if reason}


def reclaiming_of(
    nodes: Sequence[Node],
    gangs: Sequence[Gang],
    servers: int,
    *,
    cost: str = Cost.JOBS,
    among: Sequence[str] = (),
    time: float | None = None,
) -> Reclaiming:
    """Create the problem of giving nodes back at the least preemption cost.

    The parameters are described in `gsopt.snapshots.Snapshot.reclaiming`.
    """
    check_cost(cost)
    chosen = chosen_nodes(nodes, among)
    kept = kept_nodes(chosen, gangs)
    given = [node for node in chosen if node.name not in kept]
    if isinstance(servers, bool) or not isinstance(servers, int) or not 0 <= servers <= len(given) or not given:
        rule = f"must be a number of at most the {len(given):,} nodes with GPUs that may be returned"
        raise InvalidInput("servers", shorten(servers), rule)
    names = {node.name for node in given}
    lowest = min((gang.priority for gang in gangs if gang.gpus), default=0)
    with validly(""):
        jobs = [
            Job(
                name=gang.name,
                workers=_workers(gang, names),
                cost=cost_of(gang, cost, time, lowest),
                training_servers=sum(node not in names for node in gang.nodes),
            )
            for gang in gangs
            if gang.gpus and not names.isdisjoint(gang.nodes)
        ]
    used = Counter[str]()
    for job in jobs:
        used.update(job.workers)
    lent = [Server(name=node.name, gpus=max(node.gpus, used[node.name])) for node in given]
    return Reclaiming(name=f"drain {servers} of {len(given)}", demand=servers, servers=lent, jobs=jobs)


def _workers(gang: Gang, names: set[str]) -> dict[str, int]:
    """Return how many GPUs a gang has on each of the given nodes, rounded up to an integer of at least 1."""
    gpus: dict[str, float] = {}
    for part in gang.standing:
        if part.node in names:
            gpus[part.node] = gpus.get(part.node, 0.0) + part.count * part.gpus
    return {node: max(1, ceil(held)) for node, held in gpus.items()}


def cost_of(gang: Gang, cost: str, time: float | None, lowest: int) -> float:
    """Return the cost of preempting a gang, given the lowest priority of all gangs that are compared."""
    if cost == Cost.JOBS:
        return 1.0
    if cost == Cost.PRIORITY:
        return float(gang.priority - lowest + 1)
    now = time or 0.0
    seconds = sum(
        part.count * part.gpus * max(0.0, now - part.started)
        for part in gang.standing
        if part.started is not None
    )
    return round(seconds / _HOUR, _DIGITS)
