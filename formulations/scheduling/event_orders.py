"""Event orders: one linear program for every order in which jobs can arrive and complete."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from formulations.common.duals import bound_by_total
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.blocks import by_blocks
from formulations.scheduling.instance import Instance
from formulations.scheduling.order import OrderPlan, refuted
from formulations.scheduling.timetable import TimetableStep, replay
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.tolerances import LEAST_TOLERANCE
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.scheduling import Scheduling, SchedulingSolution

#: Maximum numbers of jobs and of their joint configurations for which the orders are enumerated.
_MOST_JOBS, _MOST_CONFIGURATIONS = 5, 2_000

#: Price of being late by a unit of time, as a multiple of the cost of delaying all jobs by that unit.
_LATE = 100.0

#: Number of GPUs of each job, in job order; 0 for a job that does not run.
Configuration = tuple[int, ...]


class EventInterval(NamedTuple):
    """The time between two events."""

    active: frozenset[int]  # jobs that have arrived and are not complete
    completed: int | None  # the job whose completion ends the interval; None if an arrival ends it


@exact_method(unused=["gap", "backend", "log"])
def event_orders(problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
    """Try every order of arrivals and completions, as a slow and simple reference for other methods.

    Between two events, the time is divided among configurations, each of which specifies the number of GPUs of
    every present job, possibly 0. All configurations that fit on the GPUs are enumerated. For each order of
    events, a linear program minimizes the sum of completion times.

    Variables
    ---------
    x[c, v]: seconds of configuration v between events c and c + 1.

    Objective
    ---------
    Minimize the sum of T[j] over all jobs j, where T[j] is the sum of x[c, v] over all intervals c before the
    completion of j.

    Constraints
    -----------
    The x[c, v] before an arrival add up to the time of the arrival. The work done on each job adds up to its
    work. T[j] is at most the deadline of j.

    Size
    ----
    (2 n - 1)!! orders for n jobs with different release dates, or n! for equal release dates. For each order,
    at most one variable x per event and configuration.

    Source
    ------
    Model of Ares, Eq. 1, with free preemption and resizing.

    Raises
    ------
    Unsupported
        More than 5 jobs, or jobs with more than 2,000 configurations, have to be scheduled together, or
        preemption is not allowed.

    Examples
    --------
    >>> from gsopt.problems.scheduling import ElasticJob
    >>> a = ElasticJob(name="a", release=0, work=1, rates={2: 1.0})
    >>> b = ElasticJob(name="b", release=0, work=2, rates={1: 1.0})
    >>> event_orders(Scheduling(gpus=2, jobs=[a, b])).objective
    2.0
    """
    if not problem.preemptive:
        raise Unsupported("event_orders: the problem must allow preemption")
    return by_blocks(problem, budget, _try_all, method="event_orders")


def _try_all(problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
    instance = Instance.of(problem)
    if len(instance) > _MOST_JOBS:
        raise Unsupported(f"event_orders: {len(instance)} jobs: at most {_MOST_JOBS}")
    configurations = list(_configurations(instance))
    if len(configurations) > _MOST_CONFIGURATIONS:
        raise Unsupported(
            f"event_orders: {len(configurations):,} configurations: at most {_MOST_CONFIGURATIONS:,}"
        )
    best, tried, least = BestSchedule(problem, instance, budget, "event_orders"), 0, inf
    for order in _orders(instance):
        if budget.passed or best.asked_to_stop:
            stopped_by = StoppedBy.INTERRUPT if best.asked_to_stop else StoppedBy.TIME_LIMIT
            return best.result(stopped_by, message=f"stopped after {tried:,} orders of events")
        tried += 1
        steps, bound = _solve(instance, configurations, order)
        least = min(least, bound)
        if steps:
            best.take(OrderPlan(tuple(steps), replay(instance, steps).completions))
    if least < inf:
        best.raise_bound(least)
    if best.plan is None and refuted(instance, budget=budget):
        best.infeasible = f"no schedule keeps all deadlines in any of {tried:,} orders of events"
    return best.result(StoppedBy.FINISHED, message=f"{tried:,} orders of events")


def _configurations(instance: Instance) -> Iterator[Configuration]:
    """Yield all joint configurations of all jobs that fit on the GPUs."""
    for gpus in product(*([0, *(mode.gpus for mode in modes)] for modes in instance.modes)):
        if sum(gpus) <= instance.gpus:
            yield gpus


def _orders(instance: Instance) -> Iterator[list[EventInterval]]:
    """Return an iterator over the orders of events after the first arrival."""

    def extended(
        cells: list[EventInterval], arrived: int, done: frozenset[int]
    ) -> Iterator[list[EventInterval]]:
        there = [job for job, time in enumerate(instance.release) if time <= instance.arrivals[arrived]]
        active = frozenset(there) - done
        if len(done) == len(instance):
            yield cells
        if arrived + 1 < len(instance.arrivals):
            yield from extended([*cells, EventInterval(active, None)], arrived + 1, done)
        for job in sorted(active):
            yield from extended([*cells, EventInterval(active, job)], arrived, done | {job})

    return extended([], 0, frozenset())


def _solve(
    instance: Instance, configurations: Sequence[Configuration], order: Sequence[EventInterval]
) -> tuple[list[TimetableStep], float]:
    """Return the best plan for an order (empty if deadlines are missed), and a lower bound on its objective.

    The objective is the sum of completion times. Releases and completions may be late at a prohibitive price,
    so dual values prove a bound even for an order that has no plan.
    """
    from scipy.optimize import linprog

    columns = [
        (cell, gpus)
        for cell, (active, _) in enumerate(order)
        for gpus in configurations
        if all(job in active for job, count in enumerate(gpus) if count)
    ]
    cells = np.array([cell for cell, _ in columns])
    unit = _horizon(instance)
    ends = {done: cells <= cell for cell, (_, done) in enumerate(order) if done is not None}
    arrivals = [cells <= cell for cell, (_, done) in enumerate(order) if done is None]
    due = [job for job, deadline in enumerate(instance.deadline) if isfinite(deadline)]
    fixed = np.array([*arrivals, *_work(instance, columns, unit)], dtype=float)
    dates = np.array([*(time / unit for time in instance.arrivals[1:]), *np.ones(len(instance))])
    in_time = np.array([ends[job] for job in due], dtype=float).reshape(len(due), len(columns))
    cost = np.sum(list(ends.values()), axis=0, dtype=float)
    price, released = _LATE * len(instance), len(arrivals)
    found = linprog(
        np.append(cost, np.full(released + len(due), price)),
        A_eq=np.hstack([fixed, -np.eye(len(fixed), released), np.zeros((len(fixed), len(due)))]),
        b_eq=dates,
        A_ub=np.hstack([in_time, np.zeros((len(due), released)), -np.eye(len(due))]),
        b_ub=[instance.due[job] / unit for job in due],
        method="highs",
        options={
            "primal_feasibility_tolerance": LEAST_TOLERANCE,
            "dual_feasibility_tolerance": LEAST_TOLERANCE,
        },
    )
    if found.x is None:  # numbers too different in scale
        return [], -inf
    latest = max(instance.deadline) / unit if due else float(len(instance))
    limits = np.append(dates, [instance.deadline[job] / unit for job in due])
    late = np.clip(found.ineqlin.marginals, -price, 0.0)
    prices = np.append(found.eqlin.marginals, late)
    prices[:released] = np.maximum(prices[:released], -price)
    bound = bound_by_total(cost, np.vstack([fixed, in_time]), limits, prices, total=latest) * unit
    times, lateness = np.split(found.x, [len(columns)])
    if lateness.max(initial=0.0) > LEAST_TOLERANCE:
        return [], bound
    plan = [
        TimetableStep(float(part) * unit, {job: count for job, count in enumerate(gpus) if count})
        for part, (_, gpus) in zip(times, columns, strict=True)
        if part > 0
    ]
    return plan, bound


def _work(
    instance: Instance, columns: Sequence[tuple[int, Configuration]], unit: float
) -> Iterator[list[float]]:
    """Yield, for each job, the fraction of its work that each column does per unit of time."""
    for job, modes in enumerate(instance.modes):
        part = {0: 0.0} | {mode.gpus: mode.rate * unit / instance.work[job] for mode in modes}
        yield [part[gpus[job]] for _, gpus in columns]


def _horizon(instance: Instance) -> float:
    """Return the unit of time in seconds: the end if all jobs ran one by one after the last arrival."""
    return instance.arrivals[-1] + sum(map(instance.height, range(len(instance))))
