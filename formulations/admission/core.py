"""Core: a smaller problem that has only some of the machines and in which only some gangs may stop."""

from collections.abc import Collection, Mapping

from formulations.admission.moving import by_size
from gsopt.problems.admission import Admission, Node, Part, Places, Running
from gsopt.problems.placement import Resources
from gsopt.problems.rooms import Rooms
from gsopt.scenario.cluster import Cluster, Rack, Switch


def core(problem: Admission, machines: Collection[str], stops: Collection[str]) -> Admission:
    """Return the problem restricted to the given machines, where only the given gangs may stop.

    On these machines, the resources of all other gangs count as used. A gang that may stop keeps only its
    workers on these machines, and may not be moved. A solution to the core, with the same evictions and
    places, is a solution to the whole problem. Conversely, a solution to the whole problem that uses no other
    machines, evicts only gangs of the core and moves no gang is a solution to the core.
    """
    chosen, kept = set(machines), set(stops)
    able = [gang for gang in problem.running if gang.name in kept]
    running = [inside for gang in able if (inside := _inside(gang, chosen)) is not None]
    freed = problem.load((gang, gang.on) for gang in running)
    nodes = {}
    for name in chosen:
        machine = problem.position[name]
        room = [free + more for free, more in _added(problem.free[machine], freed.get(machine))]
        capacity = Resources(**dict(zip(problem.resources, room, strict=True)))
        nodes[name] = Node(capacity=capacity, closed=problem.nodes.get(name, Node()).closed)
    return Admission(
        cluster=_cluster(problem.cluster, chosen),
        nodes=nodes,
        places={name: [each for each in named if each in chosen] for name, named in problem.places.items()},
        running=running,
        pending=problem.pending,
        second_objective=problem.second_objective,
    )


def _added(free: tuple[int, ...], more: list[int] | None) -> list[tuple[int, int]]:
    return list(zip(free, more or [0] * len(free), strict=True))


def _inside(gang: Running, machines: set[str]) -> Running | None:
    """Return the part of a gang that runs on the given machines, or None if it has no workers there."""
    parts: list[Part] = []
    on: list[Mapping[str, int]] = []
    for part, standing in zip(gang.parts, gang.on, strict=True):
        here = {name: number for name, number in standing.items() if name in machines}
        if here:
            parts.append(Part(count=sum(here.values()), needs=part.needs))
            on.append(here)
    if not parts:
        return None
    return Running(name=gang.name, parts=parts, on=on, cost=gang.cost, priority=gang.priority)


def _cluster(cluster: Cluster, machines: set[str]) -> Cluster:
    """Return the part of the cluster's tree that contains the given machines."""
    if cluster.network is None:
        racks = [
            Rack(name=rack.name, machines=kept)
            for rack in cluster.racks
            if (kept := [machine for machine in rack.machines if machine.name in machines])
        ]
        return Cluster(racks=racks)
    return Cluster(network=_switch(cluster.network, machines))


def _switch(switch: Switch, machines: set[str]) -> Switch | None:
    kept = [machine for machine in switch.machines if machine.name in machines]
    below = [each for child in switch.switches if (each := _switch(child, machines)) is not None]
    return (
        Switch(name=switch.name, level=switch.level, machines=kept, switches=below) if kept or below else None
    )


def place_again(problem: Admission, evicted: Collection[str]) -> Mapping[str, Places] | None:
    """Return places for the pending gangs after the given evictions, or None if a gang does not fit.

    The gangs are placed one by one, those with the largest workers first.
    """
    gone = set(evicted)
    rooms = Rooms(problem)
    for running in problem.running:
        if running.name in gone:
            rooms.stop(running, running.on)
    found: dict[str, Places] = {}
    for gang in by_size(problem.pending):
        places = rooms.fit(gang)
        if places is None:
            return None
        rooms.start(gang, places)
        found[gang.name] = places
    return found
