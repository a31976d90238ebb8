"""Admitting: the cheapest evictions and moves of running gangs that make room for a waiting gang."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gsopt.core.budget import TimeLimit, checked_time_limit
from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.result import Result, Status, plain
from gsopt.evaluation.solve import solve
from gsopt.problems.admission import Admission, AdmissionSolution, Node, Part, Running
from gsopt.problems.admission import Gang as PendingGang
from gsopt.problems.placement import Resources
from gsopt.snapshots.commands import stop_commands
from gsopt.snapshots.gang import MOST_PRIORITY, Gang
from gsopt.snapshots.gang import Part as Pod
from gsopt.snapshots.returning import Cost, check_cost, cost_of
from gsopt.snapshots.snapshot import Snapshot
from gsopt.snapshots.valid import validly

#: Default time limit in seconds.
TIME_LIMIT = 10.0

#: Maximum cost of a move, as a multiple of the cost of an eviction.
_MOST_MOVE_COST = 1_000

#: The size of a gang: its number of workers and the number of GPUs per worker, such as ``16x8``.
_SIZE = re.compile(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})")

#: The slices of a gang: the number of workers per slice and the level of slices, such as ``4:rack``.
_SLICES = re.compile(r"([1-9][0-9]{0,5}):(.+)")


@dataclass(frozen=True)
class Request:
    """A request to admit a gang.

    Attributes
    ----------
    gang
        Name of a waiting gang in the snapshot, or the size of a new gang, such as ``16x8`` for 16 workers
        with 8 GPUs each.
    within
        Network level at which a single group (for example, one rack) must hold all workers; empty if they may
        run anywhere.
    slices
        Number of workers per slice, and the level at which a single group must hold each slice, such as
        ``4:rack``; empty if there are no slices.
    gpu_type
        GPU type that a new gang needs; empty if any type will do. It is ignored for a waiting gang.
    priority
        Priority of the gang. If it is None, a waiting gang keeps its own priority, and a new gang gets the
        highest priority, so that it may evict any gang that may be preempted at all.

    Examples
    --------
    >>> Request("16x8", within="rack").within
    'rack'
    """

    gang: str
    within: str = ""
    slices: str = ""
    gpu_type: str = ""
    priority: int | None = None

    def pending(self, snapshot: Snapshot) -> PendingGang:
        """Return the requested gang as a gang of the admission problem.

        Raises
        ------
        InvalidInput
            The gang or a network level does not exist, or another attribute is invalid.
        """
        waiting = {gang.name: gang for gang in snapshot.pending}
        known = waiting.get(self.gang)
        if known is None:
            parts: list[Part] = [self._new()]
            priority = MOST_PRIORITY
        else:
            parts = [_waiting_part(pod) for pod in known.waiting]
            priority = known.priority
        size, level = self._slices()
        for field, wanted in (("within", self.within), ("slices", level)):
            if wanted and wanted not in snapshot.cluster.levels:
                rule = f"must be one of {', '.join(snapshot.cluster.levels)}"
                raise InvalidInput(field, shorten(wanted), rule)
        sliced = [part.model_copy(update={"slice": size, "slice_within": level}) for part in parts]
        with validly(""):
            return PendingGang(
                name=self.gang,
                parts=[Part.model_validate(part.model_dump()) for part in sliced],
                within=self.within,
                priority=priority if self.priority is None else self.priority,
            )

    def _new(self) -> Part:
        size = _SIZE.fullmatch(self.gang)
        if size is None:
            rule = "must be the name of a waiting gang, or a number of workers and GPUs of each, such as 16x8"
            raise InvalidInput("gang", shorten(self.gang), rule)
        count, gpus = map(int, size.groups())
        return Part(count=count, needs=Resources(gpu=gpus), gpu_type=self.gpu_type)

    def _slices(self) -> tuple[int, str]:
        if not self.slices:
            return 0, ""
        slices = _SLICES.fullmatch(self.slices)
        if slices is None:
            rule = "must be a number of workers and a level, such as 4:rack"
            raise InvalidInput("slices", shorten(self.slices), rule)
        return int(slices[1]), slices[2]


def _waiting_part(pod: Pod) -> Part:
    return Part(count=pod.count, needs=pod.needs, where=pod.where)


def admission_of(
    snapshot: Snapshot,
    pending: PendingGang,
    *,
    cost: str = Cost.JOBS,
    move_cost: float | None = None,
    protect: Collection[str] = (),
    evict: bool = True,
) -> Admission:
    """Create the problem of admitting a gang, as described in `admit`.

    Only nodes with GPUs are considered. Pods that belong to no gang stay, and their resources count as used. If
    `evict` is False, no gang may be evicted.
    """
    check_cost(cost)
    machines = {machine.name for machine in snapshot.cluster.machines}
    known = {gang.name for gang in snapshot.running}
    for name in protect:
        if name not in known:
            raise InvalidInput("protect", shorten(name), "must be the name of a running gang")
    gangs = [gang for gang in snapshot.running if not machines.isdisjoint(gang.nodes)]
    lowest = min((gang.priority for gang in gangs), default=0)
    kept = {gang.name for gang in gangs if gang.kept or gang.name in protect}
    with validly(""):
        running = [
            _running(
                gang,
                machines,
                price := cost_of(gang, cost, snapshot.time, lowest),
                None if move_cost is None or gang.name in kept else price * move_cost,
                protected=gang.name in kept or not evict,
            )
            for gang in gangs
        ]
        return Admission(
            name="admission",
            cluster=snapshot.cluster,
            nodes=_nodes(snapshot, gangs, machines),
            places={
                where.name: [name for name in where.nodes if name in machines] for where in snapshot.places
            },
            running=running,
            pending=[pending],
        )


def _running(
    gang: Gang, machines: Collection[str], cost: float, move_cost: float | None, *, protected: bool
) -> Running:
    """Convert a running gang; pods with the same needs that may run on the same nodes form one part."""
    alike: dict[tuple[Resources, str], dict[str, int]] = {}
    for pod in gang.standing:
        if pod.node in machines and any(pod.needs.named.values()):
            on = alike.setdefault((pod.needs, pod.where), {})
            on[pod.node] = on.get(pod.node, 0) + pod.count
    return Running(
        name=gang.name,
        parts=[Part(count=sum(on.values()), needs=needs, where=where) for (needs, where), on in alike.items()],
        on=list(alike.values()),
        priority=gang.priority,
        cost=cost,
        move_cost=move_cost,
        protected=protected,
    )


def _nodes(snapshot: Snapshot, gangs: Sequence[Gang], machines: Collection[str]) -> dict[str, Node]:
    """Return the capacity of each machine, and the resources that anything except gangs uses there."""
    held: dict[str, dict[str, int]] = {}
    for gang in gangs:
        for pod in gang.standing:
            here = held.setdefault(pod.node, {})
            for name, amount in pod.needs.named.items():
                here[name] = here.get(name, 0) + amount * pod.count
    found = {}
    for node in snapshot.nodes:
        if node.name in machines:
            gangs_use = held.get(node.name, {})
            others = {name: max(0, used - gangs_use.get(name, 0)) for name, used in node.used.named.items()}
            needed = {name: others.get(name, 0) + amount for name, amount in gangs_use.items()}
            names = {**node.capacity.named, **needed, **others}
            capacity = {
                name: max(node.capacity.named.get(name, 0), needed.get(name, 0), others.get(name, 0))
                for name in names
            }
            found[node.name] = Node(
                capacity=resources_of(capacity), used=resources_of(others), closed=bool(node.closed)
            )
    return found


def resources_of(amounts: Mapping[str, int]) -> Resources:
    """Return the non-zero amounts as `Resources`."""
    return Resources(**{name: amount for name, amount in amounts.items() if amount})


@dataclass(frozen=True)
class Admit:
    """The result of admitting a gang: the gangs to evict or move, and the nodes of the admitted gang.

    Attributes
    ----------
    snapshot
        The cluster.
    request
        The request to admit the gang.
    cost
        Cost of evicting a gang, as in `admit`.
    problem, result
        The admission problem and its result.

    Examples
    --------
    >>> from gsopt import snapshots
    >>> from gsopt.scenario.cluster import Cluster, Machine, Rack
    >>> eight, four = Resources(gpu=8), Resources(gpu=4)
    >>> nodes = [snapshots.Node(name=name, gpus=8, capacity=eight, used=four) for name in ("n1", "n2")]
    >>> pods = [snapshots.Part(name=name, node=name, needs=four) for name in ("n1", "n2")]
    >>> gangs = [Gang(name="a", parts=pods[:1]), Gang(name="b", parts=pods[1:], priority=9)]
    >>> rack = Rack(name="rack", machines=[Machine(name=name, gpus=8) for name in ("n1", "n2")])
    >>> snapshot = Snapshot(nodes=nodes, gangs=gangs, network=Cluster(racks=[rack]))
    >>> found = admit(snapshot, Request("1x8", priority=5))
    >>> [gang.name for gang in found.evicted], found.nodes
    (['a'], ('n1',))
    """

    snapshot: Snapshot
    request: Request
    cost: str
    problem: Admission
    result: Result[AdmissionSolution]

    @property
    def possible(self) -> bool | None:
        """Whether the gang can be admitted; None if this was neither proven nor disproven."""
        if self.result.solution is not None:
            return True
        return False if self.result.status is Status.INFEASIBLE else None

    @cached_property
    def evicted(self) -> tuple[Gang, ...]:
        """The gangs to evict; empty if there is no solution."""
        return self._gangs(() if self.result.solution is None else self.result.solution.evicted)

    @cached_property
    def moved(self) -> tuple[Gang, ...]:
        """The gangs to move; empty if there is no solution."""
        return self._gangs(() if self.result.solution is None else self.result.solution.moved)

    def _gangs(self, names: Collection[str]) -> tuple[Gang, ...]:
        chosen = set(names)
        return tuple(gang for gang in self.snapshot.gangs if gang.name in chosen)

    @property
    def places(self) -> dict[str, int]:
        """Number of workers of the admitted gang, keyed by node name; empty if there is no solution."""
        if self.result.solution is None:
            return {}
        return _together(self.result.solution.placed[self.request.gang])

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the admitted gang's nodes; empty if there is no solution."""
        return tuple(self.places)

    @property
    def moves(self) -> dict[str, dict[str, int]]:
        """Number of workers of each moved gang on each node after the move, keyed by gang, then by node."""
        solution = self.result.solution
        return {} if solution is None else {name: _together(places) for name, places in solution.moved.items()}

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """Shell commands that stop the evicted and moved gangs; gsopt does not execute them."""
        return stop_commands(self.snapshot, [*self.evicted, *self.moved])

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types, in the form that ``gsopt admit --json`` prints."""
        result = self.result
        return {
            "status": result.status.value,
            "gang": self.request.gang,
            "cost": self.cost,
            "objective": plain(result.objective),
            "bound": plain(result.bound),
            "gap": result.gap,
            "runtime": result.runtime,
            "reason": self.problem.obstacle or ("" if self.possible else result.message),
            "evicted": [_told(gang) for gang in self.evicted],
            "moved": [{**_told(gang), "to": self.moves[gang.name]} for gang in self.moved],
            "places": self.places,
            "commands": list(self.commands),
        }


def _together(places: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the total number of workers of all parts on each node."""
    found: dict[str, int] = {}
    for machines in places:
        for name, number in machines.items():
            found[name] = found.get(name, 0) + number
    return found


def _told(gang: Gang) -> dict[str, Any]:
    return {"name": gang.name, "kind": gang.kind, "gpus": gang.gpus, "nodes": list(gang.nodes)}


def admit(
    snapshot: Snapshot,
    request: Request | str,
    *,
    cost: str = Cost.JOBS,
    move_cost: float | None = None,
    protect: Collection[str] = (),
    time_limit: TimeLimit = TIME_LIMIT,
) -> Admit:
    """Choose which running gangs to evict or move, at minimum cost, so that a gang fits.

    Only nodes with GPUs are considered. A gang is evicted only if its priority is lower than that of the
    admitted gang. Gangs that must not be preempted, for example because of a disruption budget, are neither
    evicted nor moved.

    Parameters
    ----------
    snapshot
        The cluster.
    request
        The request, or just the name or size of the gang.
    cost
        Cost of evicting a gang, as in `Snapshot.reclaiming`. Here, ``"priority"`` counts from the lowest
        priority of all gangs on nodes with GPUs.
    move_cost
        Cost of moving a gang of any priority, as a multiple of the cost of evicting it, from 0 to 1,000; None
        if no gang may be moved.
    protect
        Names of further gangs that must be neither evicted nor moved.
    time_limit
        Time limit, in seconds or as a string such as ``30s``. When it is reached, the best solution found so
        far is returned with its proven bound.

    Raises
    ------
    InvalidInput
        A gang, level or cost does not exist, another argument is invalid, or no node has GPUs.

    Examples
    --------
    >>> from gsopt import snapshots
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster, Machine, Rack
    >>> eight, four = Resources(gpu=8), Resources(gpu=4)
    >>> nodes = [snapshots.Node(name=name, gpus=8, capacity=eight, used=four) for name in ("n1", "n2")]
    >>> gangs = [
    ...     snapshots.Gang(name=name, parts=[snapshots.Part(name=name, node=name, needs=four)])
    ...     for name in ("n1", "n2")
    ... ]
    >>> rack = Rack(name="rack", machines=[Machine(name=name, gpus=8) for name in ("n1", "n2")])
    >>> snapshot = Snapshot(nodes=nodes, gangs=gangs, network=Cluster(racks=[rack]))
    >>> len(admit(snapshot, "2x8").evicted), len(admit(snapshot, "1x8", move_cost=0.5).moved)
    (2, 1)
    """
    limit = checked_time_limit(time_limit)
    asked = Request(request) if isinstance(request, str) else request
    if move_cost is not None and not 0 <= move_cost <= _MOST_MOVE_COST:
        raise InvalidInput("move_cost", shorten(move_cost), f"must be between 0 and {_MOST_MOVE_COST:,}")
    problem = admission_of(snapshot, asked.pending(snapshot), cost=cost, move_cost=move_cost, protect=protect)
    return Admit(snapshot, asked, cost, problem, solve(problem, time_limit=limit))
