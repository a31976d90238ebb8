"""Shortage: why a gang does not fit, and how many additional nodes would hold it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gsopt.core.result import Status
from gsopt.evaluation.solve import solve
from gsopt.problems.placement import Placement, Server, Vector, Workers
from gsopt.snapshots.placer import WorkerLine, fitting

_MILLI = 1000


class More(NamedTuple):
    """Additional nodes for gangs that do not fit."""

    like: str  # an existing node; the additional ones are like it, but empty
    number: int
    proven: bool  # whether it is proven that fewer of these nodes, on their own, do not suffice
    gangs: int  # number of these gangs that they would hold


def reason_of(
    problem: Placement, rooms: Sequence[Vector], rows: Sequence[WorkerLine], places: Mapping[str, str]
) -> str:
    """Return the reason why a gang does not fit into the free resources.

    `places` maps the name of each node requirement to its description.
    """
    capacities = [server.capacity.vector(problem.resources) for server in problem.servers]
    for row in rows:
        demand = problem.demands[row.line]
        able = [number for number, room in enumerate(capacities) if _may_stand(problem, row, room)]
        if not able:
            return f"may run on no open node: {places[row.part.where]}"
        for state, amounts in (("", capacities), (" free", rooms)):
            short = _short(problem, demand, [amounts[number] for number in able])
            if short:
                name, need, most = short
                return f"needs {_said(name, need)} on a node, and none has more than {_said(name, most)}{state}"
        if not any(fitting(demand, rooms[number]) for number in able):
            return "needs more on a node than any has free of all at once"
    total = sum(row.part.count for row in rows)
    return (
        f"has no room for all of its {total:,} parts at once"
        if total > 1
        else "has room only beside fewer others"
    )


def more_nodes(
    problem: Placement, short: Sequence[tuple[WorkerLine, int]], time_limit: float | None
) -> More | None:
    """Return how many additional nodes, like an existing one, would make room for gangs that do not fit.

    A type of node can hold a gang if every part of the gang fits on an empty node of this type. The additional
    nodes are of the type that can hold the most gangs, and make room only for those gangs; ties go to the most
    common type. The result is None if no type can hold any of the gangs, or if no sufficient number of nodes is
    found in time. `short` contains the worker entries of all gangs that do not fit, each with the number of
    copies.
    """
    shapes = Counter(server.capacity.vector(problem.resources) for server in problem.servers)
    held = {shape: _held(problem, shape, short) for shape in shapes}
    best = max(shapes, key=lambda shape: (len(held[shape]), shapes[shape]), default=None)
    if best is None or not held[best]:
        return None
    like = next(each for each in problem.servers if each.capacity.vector(problem.resources) == best)
    lines = [(row, copies) for row, copies in short if row.gang.name in held[best]]
    workers = [
        Workers(job=row.gang.name, count=row.part.count * copies, demand=problem.workers[row.line].demand)
        for row, copies in lines
    ]
    server = Server(name="more", count=sum(line.count for line in workers), capacity=like.capacity)
    result = solve(Placement(servers=[server], workers=workers), time_limit=time_limit)
    if result.objective is None:
        return None
    return More(like.name, int(result.objective), result.status is Status.OPTIMAL, len(held[best]))


def _held(problem: Placement, shape: Vector, short: Sequence[tuple[WorkerLine, int]]) -> set[str]:
    """Return the names of gangs whose parts would each fit on an empty node with the given capacity."""
    names = {row.gang.name for row, _ in short}
    return names - {row.gang.name for row, _ in short if not fitting(problem.demands[row.line], shape)}


def _may_stand(problem: Placement, row: WorkerLine, capacity: Vector) -> bool:
    """Check whether parts may run on a node, given their node requirement."""
    return not row.part.where or capacity[problem.resources.index(row.part.where)] > 0


def _short(problem: Placement, demand: Vector, amounts: Sequence[Vector]) -> tuple[str, int, int] | None:
    """Return the first resource of which no node has enough, with the demand and the largest amount."""
    for position, name in enumerate(problem.resources):
        most = max(amount[position] for amount in amounts)
        if demand[position] > most:
            return name, demand[position], most
    return None


def _said(name: str, amount: int) -> str:
    """Return an amount of a resource as text, in its usual unit."""
    if name == "cpu":
        return f"{amount / _MILLI:,g} CPU{'' if amount == _MILLI else 's'}"
    several = "GPU" if amount == 1 else "GPUs"
    return {"gpu": f"{amount:,} {several}", "memory": f"{amount:,} MiB"}.get(name, f"{amount:,} {name}")
