"""Explaining: the smallest changes that would make room for a gang that does not fit."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gsopt.core.budget import Budget, TimeLimit, checked_time_limit
from gsopt.core.result import Result, Status
from gsopt.evaluation.solve import solve
from gsopt.problems.admission import Admission, AdmissionSolution, Gang, Part, Running
from gsopt.snapshots.admitting import TIME_LIMIT, Request, admission_of, resources_of
from gsopt.snapshots.returning import Cost
from gsopt.snapshots.snapshot import Snapshot

#: A priority higher than that of every gang.
_TOP = 10_000_000_000


@dataclass(frozen=True)
class Change:
    """The result of trying one kind of change to make a gang fit.

    Attributes
    ----------
    kind
        What is changed: ``"nothing"``; ``"moves"`` of gangs; ``"evictions"`` of gangs with a lower priority;
        ``"preemptions"`` of gangs with any priority; closed ``"nodes"``, which are opened; the ``"level"`` at
        which a single group must hold all workers; or the number of ``"workers"``.
    helps
        Whether some change of this kind makes the gang fit; None if this was neither proven nor disproven in
        time.
    size
        Size of the change that was found: the number of gangs moved or evicted, of nodes opened, of levels by
        which the required level is widened, or of workers left out. It is 0 if none was found.
    least
        Whether it is proven that no smaller change of this kind helps.
    names
        Names of the gangs moved or evicted, of the nodes opened, or of the level that suffices.

    Examples
    --------
    >>> Change("nodes", True, 1, True, ("n1",)).names
    ('n1',)
    """

    kind: str
    helps: bool | None
    size: int = 0
    least: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Why:
    """The reasons why a gang does not fit, and the changes that would help.

    Attributes
    ----------
    snapshot
        The cluster.
    request
        The request to admit the gang.
    obstacle
        Reason why evictions and moves cannot help; empty if they may help.
    changes
        The result for each kind of change that was tried. The first result is for changing nothing; if the
        gang fits without any change, it is the only one.

    Examples
    --------
    >>> from gsopt import snapshots
    >>> snapshot = Snapshot(nodes=[snapshots.Node(name="n1")], gangs=[])
    >>> Why(snapshot, Request("1x8"), "", (Change("nothing", False), Change("moves", True, 2))).helpful[0].kind
    'moves'
    """

    snapshot: Snapshot
    request: Request
    obstacle: str
    changes: tuple[Change, ...]

    @property
    def fits(self) -> bool:
        """Whether a placement of the gang without any change was found."""
        return bool(self.changes[0].helps)

    @property
    def helpful(self) -> tuple[Change, ...]:
        """The changes that make the gang fit, each by itself."""
        return tuple(change for change in self.changes if change.helps)

    @property
    def hopeless(self) -> bool:
        """Whether it is proven that none of the changes helps."""
        return all(change.helps is False for change in self.changes)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types, in the form that ``gsopt why --json`` prints."""
        return {
            "gang": self.request.gang,
            "fits": self.fits,
            "obstacle": self.obstacle,
            "hopeless": self.hopeless,
            "changes": [
                {
                    "kind": each.kind,
                    "helps": each.helps,
                    "size": each.size,
                    "least": each.least,
                    "names": [*each.names],
                }
                for each in self.changes
            ],
        }


def why(snapshot: Snapshot, request: Request | str, *, time_limit: TimeLimit = TIME_LIMIT) -> Why:
    """Find out why a gang does not fit, and search for the smallest change of each kind that makes it fit.

    Parameters
    ----------
    snapshot
        The cluster.
    request
        The request, or just the name or size of the gang.
    time_limit
        Time limit for all kinds of change together, in seconds or as a string such as ``30s``.

    Raises
    ------
    InvalidInput
        The request or the time limit is invalid, or no node has GPUs.

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
    >>> [(change.kind, change.size) for change in why(snapshot, "2x8").helpful]
    [('evictions', 2)]
    """
    budget = Budget(time_limit=checked_time_limit(time_limit))
    asked = Request(request) if isinstance(request, str) else request
    return _Inquiry(snapshot, asked, budget).answer()


class _Inquiry:
    """A search for the smallest change of each kind that makes the gang fit."""

    def __init__(self, snapshot: Snapshot, request: Request, budget: Budget) -> None:
        self._snapshot, self._request, self._budget = snapshot, request, budget
        self._pending = request.pending(snapshot)

    def answer(self) -> Why:
        """Try every kind of change, unless the gang fits without any change."""
        nothing = self._problem()
        as_it_is = self._change("nothing", nothing)
        if as_it_is.helps:
            return Why(self._snapshot, self._request, "", (as_it_is,))
        kinds: list[Callable[[], Iterator[Change]]] = [
            self._moves,
            self._evictions,
            lambda: self._nodes(nothing),
            self._levels,
            self._workers,
        ]
        changes = (as_it_is, *(change for kind in kinds for change in kind()))
        everything = self._problem(evict=True, priority=_TOP, move_cost=1.0)
        return Why(self._snapshot, self._request, everything.obstacle, changes)

    def _problem(
        self,
        *,
        pending: Gang | None = None,
        evict: bool = False,
        move_cost: float | None = None,
        priority: int | None = None,
    ) -> Admission:
        """Return the problem of admitting the gang, where only the changes given as arguments are allowed."""
        gang = self._pending if pending is None else pending
        if priority is not None:
            gang = gang.model_copy(update={"priority": priority})
        return admission_of(self._snapshot, gang, cost=Cost.JOBS, move_cost=move_cost, evict=evict)

    def _asking(self, **changes: Any) -> Admission:
        """Return the problem of admitting the gang with modified fields and without evictions or moves."""
        return self._problem(pending=self._pending.model_copy(update=changes))

    def _solved(self, problem: Admission) -> Result[AdmissionSolution]:
        return solve(problem, time_limit=self._budget.left())

    def _change(self, kind: str, problem: Admission) -> Change:
        """Return the smallest change among those that a problem with unit costs allows."""
        result = self._solved(problem)
        solution = result.solution
        if solution is None:
            return Change(kind, False if result.status is Status.INFEASIBLE else None)
        names = (*solution.evicted, *solution.moved)
        return Change(kind, True, len(names), result.objective == result.bound, names)

    def _moves(self) -> Iterator[Change]:
        yield self._change("moves", self._problem(move_cost=1.0))

    def _evictions(self) -> Iterator[Change]:
        """Try evictions of gangs with a lower priority and then, if there are other gangs, of any gangs."""
        problem = self._problem(evict=True)
        yield self._change("evictions", problem)
        if any(gang.priority >= problem.lowest_priority for gang in problem.running):
            yield self._change("preemptions", self._problem(evict=True, priority=_TOP))

    def _nodes(self, nothing: Admission) -> Iterator[Change]:
        """Find the fewest closed nodes whose opening makes the gang fit.

        Each closed node's free resources are held by an imaginary gang. Evicting this gang means opening the
        node.
        """
        closed = [name for name, node in nothing.nodes.items() if node.closed]
        held = []
        for name in closed:
            free = nothing.free[nothing.position[name]]
            needs = {each: amount for each, amount in zip(nothing.resources, free, strict=True) if amount}
            if needs:
                part = Part(needs=resources_of(needs))
                held.append(Running(name=_door(name), parts=[part], on=[{name: 1}], priority=-_TOP))
        if not held:
            return
        opened = {name: node.model_copy(update={"closed": False}) for name, node in nothing.nodes.items()}
        lowest = [gang.model_copy(update={"priority": -_TOP + 1}) for gang in nothing.pending]
        problem = Admission(
            cluster=nothing.cluster,
            nodes=opened,
            places=nothing.places,
            running=[*nothing.running, *held],
            pending=lowest,
        )
        change = self._change("nodes", problem)
        doors = {_door(name): name for name in closed}
        yield Change(
            change.kind, change.helps, change.size, change.least, tuple(map(doors.__getitem__, change.names))
        )

    def _levels(self) -> Iterator[Change]:
        """Find the narrowest level, wider than the required one, at which a single group suffices."""
        levels = self._snapshot.cluster.levels
        if not self._pending.within:
            return
        place = levels.index(self._pending.within)
        wider = [*levels[place + 1 :]]
        helps: bool | None = False
        for step, level in enumerate(wider, start=1):
            found = self._change(
                "level", self._problem(pending=self._pending.model_copy(update={"within": level}))
            )
            if found.helps:
                yield Change("level", True, step, helps is False, (level,))
                return
            helps = None if found.helps is None else helps
        yield Change("level", helps)

    def _workers(self) -> Iterator[Change]:
        """Find the largest number of workers, in whole slices, with which the gang fits."""
        if len(self._pending.parts) != 1:
            return
        (part,) = self._pending.parts
        size = part.slice or 1
        low, high, sure = 0, part.count // size, True
        while high - low > 1:
            middle = (low + high) // 2
            fewer = part.model_copy(update={"count": middle * size})
            found = self._change(
                "workers", self._problem(pending=self._pending.model_copy(update={"parts": (fewer,)}))
            )
            low, high = (middle, high) if found.helps else (low, middle)
            sure = sure and found.helps is not None
        if low:
            yield Change("workers", True, part.count - low * size, sure)
        else:
            yield Change("workers", False if sure else None)


def _door(node: str) -> str:
    """Return the name of the imaginary gang that holds a closed node's free resources."""
    return f"closed node {node}"
