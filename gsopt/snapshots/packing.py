"""Packing: places for the waiting gangs that fit, and the resources that the others lack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from gsopt.core.budget import Budget, TimeLimit, checked_time_limit
from gsopt.core.result import Result, Status, plain
from gsopt.evaluation.solve import solve
from gsopt.problems.placement import Placed, Placement, PlacementSolution
from gsopt.snapshots.placer import GangPlacer, WorkerLine, rows_of
from gsopt.snapshots.shortage import More, more_nodes, reason_of
from gsopt.snapshots.snapshot import Snapshot

#: Default time limit of each search, in seconds.
TIME_LIMIT = 10.0

_LATE = "has no room that was found within the time limit"
_NOTHING = "is closed: no node takes anything"


class Spot(NamedTuple):
    """Identical parts of a gang that are placed on the same node, with their number.

    The name of the part may be empty.
    """

    gang: str
    part: str
    node: str
    number: int


@dataclass(frozen=True)
class Pack:
    """The placement of the waiting gangs that fit, with the reasons why the others do not.

    Attributes
    ----------
    snapshot
        The cluster.
    problem, result
        The problem of placing all gangs, and its result. Both are None if no gang waits or no node is open.
    spots
        The placed parts of the gangs that fit, with their nodes.
    missing
        Reasons why gangs do not fit, keyed by gang name; None or empty if all gangs fit.
    copies
        How many of a gang's copies (`Gang.copies`) do not fit, keyed by gang name; None or empty if all gangs
        fit.
    more
        Additional nodes, all like the same existing node, that would hold as many as possible of the gangs
        that do not fit. None if all gangs fit, if no node is open, if no type of node would hold any of these
        gangs, or if no sufficient number of nodes was found in time.

    Examples
    --------
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.snapshots import Gang, Node, Part
    >>> nodes = [Node(name="n1", gpus=8, capacity=Resources(gpu=8), used=Resources(gpu=2))]
    >>> gangs = [Gang(name=str(gpus), parts=[Part(needs=Resources(gpu=gpus))]) for gpus in (4, 8)]
    >>> packed = pack(Snapshot(nodes=nodes, gangs=gangs))
    >>> packed.spots, packed.more.number
    ((Spot(gang='4', part='', node='n1', number=1),), 1)
    >>> packed.missing
    {'8': 'needs 8 GPUs on a node, and none has more than 2 GPUs free'}
    """

    snapshot: Snapshot
    problem: Placement | None = None
    result: Result[PlacementSolution] | None = None
    spots: Sequence[Spot] = ()
    missing: Mapping[str, str] | None = None
    copies: Mapping[str, int] | None = None
    more: More | None = None

    @property
    def fits(self) -> bool:
        """Whether a placement of all waiting gangs was found."""
        return not self.missing

    @property
    def proven(self) -> bool:
        """Whether it is proven that all gangs fit together, or that they do not."""
        return self.fits or self.result is None or self.result.status is Status.INFEASIBLE

    @cached_property
    def waiting(self) -> int:
        """Number of waiting gangs, counting every copy."""
        return sum(gang.copies for gang in self.snapshot.pending)

    @property
    def placed(self) -> int:
        """Number of gangs that were placed, counting every copy."""
        return self.waiting - sum((self.copies or {}).values())

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types, in the form that ``gsopt pack --json`` prints."""
        result, more = self.result, self.more
        return {
            "fits": self.fits,
            "proven": self.proven,
            "waiting": self.waiting,
            "placed": self.placed,
            "nodes_in_use": None if result is None else plain(result.objective),
            "bound": None if result is None else plain(result.bound),
            "spots": [spot._asdict() for spot in self.spots],
            "missing": dict(self.missing or {}),
            "more": None if more is None else more._asdict(),
        }


def pack(snapshot: Snapshot, *, time_limit: TimeLimit = TIME_LIMIT) -> Pack:
    """Place all waiting gangs or, if that fails, those that fit when gangs are placed one after another.

    If a placement of all gangs is found in time, the rest of the time is used to minimize the number of nodes
    in use. Otherwise, gangs are placed one after another, each as a whole, in descending order of priority;
    ties are broken by the order in the snapshot. Each part goes to the node with room that has the fewest free
    GPUs; ties are broken by the least free CPU, then by the least free memory. If this fails for a gang with
    different parts, an exact method searches for a placement of the gang. A different order might place more
    gangs.

    Parameters
    ----------
    snapshot
        The cluster.
    time_limit
        Time limit, in seconds or as a string such as ``30s``. It applies separately to placing all gangs
        together, to placing them one after another, and to the computation of `Pack.more`.

    Raises
    ------
    InvalidInput
        The time limit is invalid, a waiting part needs no resources, or too many parts wait.

    Examples
    --------
    >>> from gsopt.snapshots import Node
    >>> pack(Snapshot(nodes=[Node(name="n1")], gangs=[])).fits
    True
    """
    limit, pending = checked_time_limit(time_limit), snapshot.pending
    if not pending:
        return Pack(snapshot)
    if all(node.closed for node in snapshot.nodes):
        reasons = {gang.name: _NOTHING for gang in pending}
        return Pack(snapshot, missing=reasons, copies={gang.name: gang.copies for gang in pending})
    problem = snapshot.placement()
    result = solve(problem, time_limit=limit)
    rows = rows_of(pending)
    if result.solution is not None:
        return Pack(snapshot, problem, result, _spots(rows, result.solution.placed))
    return _partly(snapshot, problem, result, rows, limit)


def _spots(rows: Sequence[WorkerLine], placed: Sequence[Placed]) -> tuple[Spot, ...]:
    return tuple(
        Spot(rows[line].gang.name, rows[line].part.name, node, number) for node, line, number in placed
    )


def _partly(
    snapshot: Snapshot,
    problem: Placement,
    result: Result[PlacementSolution],
    rows: Sequence[WorkerLine],
    time_limit: float | None,
) -> Pack:
    """Place the gangs that fit, in order of priority, and find out what the others lack."""
    budget = Budget(time_limit=time_limit)
    placer = GangPlacer(problem, lambda alone: solve(alone, time_limit=budget.left()))
    of: dict[str, list[WorkerLine]] = {}
    for row in sorted(rows, key=lambda row: -row.gang.priority):
        of.setdefault(row.gang.name, []).append(row)
    left = {name: mine[0].gang.copies - placer.take(mine) for name, mine in of.items()}
    copies = {name: number for name, number in left.items() if number}
    places = {where.name: where.reason for where in snapshot.places}
    return Pack(
        snapshot,
        problem,
        result,
        _spots(rows, placer.placed),
        {
            name: _LATE if name in placer.unsure else reason_of(problem, placer.rooms, of[name], places)
            for name in copies
        },
        copies,
        more_nodes(problem, [(row, copies[name]) for name in copies for row in of[name]], time_limit),
    )
