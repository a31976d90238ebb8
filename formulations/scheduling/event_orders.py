"""Event orders: a linear program for every order in which jobs can arrive and complete."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import isfinite
from time import perf_counter
from typing import NamedTuple

import numpy as np

from formulations.scheduling.instance import Instance
from formulations.scheduling.timetable import Step, replayed
from gsopt.errors import GsoptError, Unsupported
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.result import Result

#: Jobs, and configurations of all of them, up to which the orders are enumerated.
_MOST_JOBS, _MOST_CONFIGURATIONS = 5, 2_000

#: Feasibility tolerance of the linear programs, the smallest that HiGHS takes.
_TOLERANCE = 1e-10

#: SciPy's number for an infeasible program.
_INFEASIBLE = 2

#: GPUs of each job by number, 0 where it does not run.
Configuration = tuple[int, ...]


class Cell(NamedTuple):
    """The time between two events.

    Attributes
    ----------
    active
        Jobs that have arrived and are not complete.
    completed
        The job with whose completion it ends; None where it ends with an arrival.
    """

    active: frozenset[int]
    completed: int | None


class Best(NamedTuple):
    """The best plan of an order, and its sum of completion times after the first arrival."""

    total: float
    plan: list[Step]


def event_orders(problem: Scheduling) -> Result[SchedulingSolution]:
    """Try every order of arrivals and completions; slow and simple, the oracle of the other methods.

    Between two events the jobs that are there share the time among configurations, each of which gives every
    job a number of GPUs or none. All are enumerated, and for each order of events the linear program is solved
    that minimises the sum of completion times.

    Variables
    ---------
    x[c, v]: seconds of configuration v between events c and c + 1.

    Objective
    ---------
    Minimise the sum over jobs j of T[j], the x of all cells before the completion of j.

    Constraints
    -----------
    The x before an arrival add up to its time. Work done on each job adds up to its work. T[j] is at most the
    deadline of j.

    Size
    ----
    (2 n - 1)!! orders for n jobs with different release dates, n! for equal ones; as many columns as there are
    configurations times events.

    Source
    ------
    Model of Ares, Eq. 1, with free preemption and resizing.

    Raises
    ------
    Unsupported
        There are more than 5 jobs or more than 2,000 configurations.

    Examples
    --------
    >>> from gsopt.problems.scheduling import ElasticJob
    >>> a = ElasticJob(name="a", release=0, work=1, rates={2: 1.0})
    >>> b = ElasticJob(name="b", release=0, work=2, rates={1: 1.0})
    >>> event_orders(Scheduling(gpus=2, jobs=[a, b])).objective
    2.0
    """
    begin = perf_counter()
    instance = Instance.of(problem)
    if len(instance) > _MOST_JOBS:
        raise Unsupported(f"event_orders: {len(instance)} jobs: at most {_MOST_JOBS}")
    configurations = list(_configurations(instance))
    if len(configurations) > _MOST_CONFIGURATIONS:
        raise Unsupported(
            f"event_orders: {len(configurations):,} configurations: at most {_MOST_CONFIGURATIONS:,}"
        )
    tried = [_best(instance, configurations, order) for order in _orders(instance)]
    best = min((found for found in tried if found is not None), key=lambda found: found.total, default=None)
    origin = len(instance) * instance.arrivals[0]
    return Result.judged(
        problem,
        method="event_orders",
        solution=None if best is None else replayed(instance, best.plan),
        bound=None if best is None else instance.mean_jct(origin + best.total),
        infeasible=best is None,
        message=f"{len(tried):,} orders of events",
        runtime=perf_counter() - begin,
    )


def _configurations(instance: Instance) -> Iterator[Configuration]:
    """Enumerate the configurations of all jobs."""
    for gpus in product(*([0, *(mode.gpus for mode in modes)] for modes in instance.modes)):
        if sum(gpus) <= instance.gpus:
            yield gpus


def _orders(instance: Instance) -> Iterator[list[Cell]]:
    """Enumerate the orders of the events after the first arrival."""

    def extended(cells: list[Cell], arrived: int, done: frozenset[int]) -> Iterator[list[Cell]]:
        there = [job for job, time in enumerate(instance.release) if time <= instance.arrivals[arrived]]
        active = frozenset(there) - done
        if len(done) == len(instance):
            yield cells
        if arrived + 1 < len(instance.arrivals):
            yield from extended([*cells, Cell(active, None)], arrived + 1, done)
        for job in sorted(active):
            yield from extended([*cells, Cell(active, job)], arrived, done | {job})

    return extended([], 0, frozenset())


def _best(instance: Instance, configurations: Sequence[Configuration], order: Sequence[Cell]) -> Best | None:
    """Solve the linear program of an order; None where it is infeasible."""
    from scipy.optimize import linprog

    columns = [
        (cell, gpus)
        for cell, (active, _) in enumerate(order)
        for gpus in configurations
        if all(job in active for job, count in enumerate(gpus) if count)
    ]
    cells = np.array([cell for cell, _ in columns])
    unit, first = _horizon(instance), instance.arrivals[0]
    ends = {done: cells <= cell for cell, (_, done) in enumerate(order) if done is not None}
    arrivals = [cells <= cell for cell, (_, done) in enumerate(order) if done is None]
    due = [job for job, deadline in enumerate(instance.deadline) if isfinite(deadline)]
    found = linprog(
        np.sum(list(ends.values()), axis=0, dtype=float),
        A_eq=np.array([*arrivals, *_work(instance, columns, unit)], dtype=float),
        b_eq=[*((time - first) / unit for time in instance.arrivals[1:]), *np.ones(len(instance))],
        A_ub=np.array([ends[job] for job in due], dtype=float).reshape(len(due), len(columns)),
        b_ub=[(instance.deadline[job] - first) / unit for job in due],
        method="highs",
        options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
    )
    if found.status == _INFEASIBLE:
        return None
    if found.x is None or found.fun is None:
        raise GsoptError(f"event_orders: a linear program failed: {found.message}")
    plan = [
        Step(float(part) * unit, {job: count for job, count in enumerate(gpus) if count})
        for part, (_, gpus) in zip(found.x, columns, strict=True)
        if part > 0
    ]
    return Best(float(found.fun) * unit, plan)


def _work(
    instance: Instance, columns: Sequence[tuple[int, Configuration]], unit: float
) -> Iterator[list[float]]:
    """Give for each job the parts of its work that the configurations do per unit of time."""
    for job, modes in enumerate(instance.modes):
        part = {0: 0.0} | {mode.gpus: mode.rate * unit / instance.work[job] for mode in modes}
        yield [part[gpus[job]] for _, gpus in columns]


def _horizon(instance: Instance) -> float:
    """Give the seconds in which the jobs are done one after the other, as the unit of time."""
    return instance.arrivals[-1] - instance.arrivals[0] + sum(map(instance.height, range(len(instance))))
