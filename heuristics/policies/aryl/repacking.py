"""Repacking: better machines for new workers, found by a method of the decision `placement`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gsopt.core.result import Result
from gsopt.problems.placement import Placement, PlacementSolution, Resources, Server, Workers
from heuristics.policies.aryl.machines import Mask
from heuristics.policies.aryl.occupancy import Occupancy, RunningJob

#: A method of the decision `placement`.
Place = Callable[[Placement], Result[PlacementSolution]]


@dataclass(frozen=True, eq=False)
class _WorkerLine:
    """A job's new base workers or new flexible workers.

    Attributes
    ----------
    where
        The number of workers on each machine.
    may
        Whether they may use each machine, shape (machines,).
    """

    running: RunningJob
    is_base: bool
    where: dict[int, int]
    may: Mask


def repack(occupancy: Occupancy, method: Place, *, grouping: bool) -> Placement | None:
    """Place again, as a method decides, the workers that were added since the last commit.

    The problem is to break as few of Aryl's preferences as possible or, without `grouping`, to use as few
    servers as possible. Workers stay where they are if the method finds no solution, and workers of mixed jobs
    always stay. Return the problem, or None if there are no workers to place.
    """
    lines = [
        line
        for running in occupancy.changed
        if running.form.pool != "mixed"
        for line in _lines(occupancy, running)
    ]
    if not lines:
        return None
    for line in lines:
        _put(occupancy, line, line.where, -1)
    problem = _problem(occupancy, lines, grouping=grouping)
    solution = method(problem).solution
    found: list[dict[int, int]] = [{} for _ in lines]
    for name, index, number in () if solution is None else solution.placed:
        machine = occupancy.machines.number_of[name]
        found[index][machine] = found[index].get(machine, 0) + number
    for line, where in zip(lines, found, strict=True):
        _put(occupancy, line, where or line.where, 1)
    return problem


def _lines(occupancy: Occupancy, running: RunningJob) -> Iterable[_WorkerLine]:
    inference = occupancy.machines.inference
    may = running.form.suits & (inference if running.form.pool == "inference" else ~inference)
    if not running.gpus:
        yield _WorkerLine(running, is_base=True, where=dict(running.base), may=may)
    size = running.form.worker_gpus
    added = {}
    for machine, number in running.flexible.items():
        before = len(running.gpus.get(machine, ())) // size - running.base.get(machine, 0)
        if number > max(before, 0):
            added[machine] = number - max(before, 0)
    if added:
        yield _WorkerLine(running, is_base=False, where=added, may=may)


def _put(occupancy: Occupancy, line: _WorkerLine, where: dict[int, int], sign: int) -> None:
    """Place the workers of a line on machines, or remove them if `sign` is -1."""
    if line.is_base:
        occupancy.put_base(where, sign * line.running.form.worker_gpus)
        line.running.base = where
        return
    for machine, number in where.items():
        occupancy.put_flexible(line.running, machine, sign * number)


def _problem(occupancy: Occupancy, lines: Sequence[_WorkerLine], *, grouping: bool) -> Placement:
    """Return the problem of placing the workers on the available machines.

    A machine with only flexible workers counts as an empty machine that has only its idle GPUs. Workers that
    may not use all machines demand a resource that only their machines have.
    """
    kinds = {mask.tobytes(): mask for mask in (line.may for line in lines)}
    present = occupancy.present > 0
    limits = {key: f"place {number}" for number, key in enumerate(kinds) if not kinds[key][present].all()}
    workers = [_workers(line, limits.get(line.may.tobytes())) for line in lines]
    servers = [
        _server(occupancy, machine, [name for key, name in limits.items() if kinds[key][machine]])
        for machine in np.flatnonzero(present).tolist()
    ]
    return Placement(minimize="preferences" if grouping else "servers", servers=servers, workers=workers)


def _workers(line: _WorkerLine, limit: str | None) -> Workers:
    form = line.running.form
    return Workers(
        job=str(line.running.job),
        count=sum(line.where.values()),
        demand=Resources(gpu=form.worker_gpus, **({limit: form.worker_gpus} if limit else {})),
        kind="flexible" if not line.is_base else "base" if form.is_elastic else "inelastic",
    )


def _server(occupancy: Occupancy, machine: int, limits: Iterable[str]) -> Server:
    present, used = int(occupancy.present[machine]), int(occupancy.base[machine] + occupancy.flexible[machine])
    if not occupancy.base[machine]:
        present, used = present - used, 0
    return Server(
        name=occupancy.machines.names[machine],
        pool="inference" if occupancy.machines.inference[machine] else "training",
        capacity=Resources(gpu=present, **dict.fromkeys(limits, present)),
        used=Resources(gpu=used),
    )
