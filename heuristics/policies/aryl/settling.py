"""Settling: what has just been placed is placed again by a method of the decision `placement`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gsopt.core.result import Result
from gsopt.problems.placement import Placement, PlacementSolution, Resources, Server, Workers
from heuristics.policies.aryl.books import Books
from heuristics.policies.aryl.crew import Crew
from heuristics.policies.aryl.machines import Mask

#: A method of the decision `placement`.
Place = Callable[[Placement], Result[PlacementSolution]]


@dataclass(frozen=True, eq=False)
class _Line:
    """Workers of a job that have just been placed.

    Attributes
    ----------
    crew
        The job.
    is_base
        Whether they are its base workers; else flexible ones.
    where
        How many stand on each machine.
    may
        On which machines they may stand, shape (machines,).
    """

    crew: Crew
    is_base: bool
    where: dict[int, int]
    may: Mask


def settle(books: Books, method: Place, *, grouping: bool) -> Placement | None:
    """Place the workers again that are not booked yet; those that were there before stay where they are.

    Where they stand now is one solution; they stay there if the method finds none. Jobs on both pools are left
    where they are.

    Parameters
    ----------
    books
        Who has workers where.
    method
        Places them.
    grouping
        Whether the preferences of Aryl count, else the servers in use.

    Returns
    -------
    Placement
        What the method was asked; None where there was nothing to ask.
    """
    lines = [line for crew in books.unbooked if crew.form.pool != "mixed" for line in _lines(books, crew)]
    if not lines:
        return None
    for line in lines:
        _put(books, line, line.where, -1)
    problem = _question(books, lines, grouping=grouping)
    solution = method(problem).solution
    found: list[dict[int, int]] = [{} for _ in lines]
    for name, index, number in () if solution is None else solution.placed:
        machine = books.machines.number_of[name]
        found[index][machine] = found[index].get(machine, 0) + number
    for line, where in zip(lines, found, strict=True):
        _put(books, line, where or line.where, 1)
    return problem


def _lines(books: Books, crew: Crew) -> Iterable[_Line]:
    inference = books.machines.inference
    may = crew.form.suits & (inference if crew.form.pool == "inference" else ~inference)
    if not crew.gpus:
        yield _Line(crew, is_base=True, where=dict(crew.base), may=may)
    size = crew.form.worker_gpus
    added = {}
    for machine, number in crew.flexible.items():
        before = len(crew.gpus.get(machine, ())) // size - crew.base.get(machine, 0)
        if number > max(before, 0):
            added[machine] = number - max(before, 0)
    if added:
        yield _Line(crew, is_base=False, where=added, may=may)


def _put(books: Books, line: _Line, where: dict[int, int], sign: int) -> None:
    """Put the workers of a line onto machines, or take them off."""
    if line.is_base:
        books.put_base(where, sign * line.crew.form.worker_gpus)
        line.crew.base = where
        return
    for machine, number in where.items():
        books.put_flexible(line.crew, machine, sign * number)


def _question(books: Books, lines: Sequence[_Line], *, grouping: bool) -> Placement:
    """Return the decision where the workers go, on the machines that are there.

    A machine with flexible workers only stands for an empty one of what is idle on it. Workers that may not
    stand everywhere need a resource that only some machines have.
    """
    kinds = {mask.tobytes(): mask for mask in (line.may for line in lines)}
    there = books.there > 0
    limits = {key: f"place {number}" for number, key in enumerate(kinds) if not kinds[key][there].all()}
    workers = [_workers(line, limits.get(line.may.tobytes())) for line in lines]
    servers = [
        _server(books, machine, [name for key, name in limits.items() if kinds[key][machine]])
        for machine in np.flatnonzero(there).tolist()
    ]
    return Placement(minimize="preferences" if grouping else "servers", servers=servers, workers=workers)


def _workers(line: _Line, limit: str | None) -> Workers:
    form = line.crew.form
    return Workers(
        job=str(line.crew.job),
        count=sum(line.where.values()),
        demand=Resources(gpu=form.worker_gpus, **({limit: form.worker_gpus} if limit else {})),
        kind="flexible" if not line.is_base else "base" if form.is_elastic else "inelastic",
    )


def _server(books: Books, machine: int, limits: Iterable[str]) -> Server:
    there, used = int(books.there[machine]), int(books.base[machine] + books.flexible[machine])
    if not books.base[machine]:
        there, used = there - used, 0
    return Server(
        name=books.machines.names[machine],
        pool="inference" if books.machines.inference[machine] else "training",
        capacity=Resources(gpu=there, **dict.fromkeys(limits, there)),
        used=Resources(gpu=used),
    )
