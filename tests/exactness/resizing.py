"""Resizing: a few elastic jobs that must not be preempted, and a linear program for every order of events."""

from collections.abc import Iterator
from random import Random

import numpy as np
from scipy.optimize import linprog

from gsopt.problems.scheduling import ElasticJob, Scheduling


def elastic(name: str, work: float, fewest: int, most: int, size: int = 1) -> ElasticJob:
    """Give a job of so many GPU-seconds between two numbers of workers of a size."""
    counts = [size * workers for workers in range(fewest, most + 1)]
    return ElasticJob(name=name, release=0, work=work, rates={count: float(count) for count in counts})


def draw(random: Random, jobs: int, *, latest: int = 0) -> Scheduling:
    """Draw jobs whose workers have one GPU each, about a third of them inelastic, until a date."""
    gpus = random.randint(2, 8)
    drawn = []
    for index in range(jobs):
        fewest = random.randint(1, gpus)
        most = fewest if random.random() < 0.3 else random.randint(fewest, gpus)
        job = elastic(f"j{index}", round(most * random.uniform(1, 10), 1), fewest, most)
        drawn.append(job.model_copy(update={"release": float(random.randint(0, latest))}) if latest else job)
    return Scheduling(gpus=gpus, jobs=drawn, preemptive=False)


def optimum(problem: Scheduling) -> float:
    """Give the least mean job completion time over all orders in which jobs start and complete."""
    number = len(problem.jobs)
    released = sum(job.release for job in problem.jobs)
    values = (_value(problem, order) for order in _orders(frozenset(range(number)), frozenset()))
    return (min(value for value in values if value is not None) - released) / number


def _orders(waiting: frozenset[int], running: frozenset[int]) -> Iterator[list[tuple[int, bool]]]:
    """Enumerate the orders of starts (True) and completions (False)."""
    if not waiting and not running:
        yield []
    for job in waiting:
        yield from ([(job, True), *rest] for rest in _orders(waiting - {job}, running | {job}))
    for job in running:
        yield from ([(job, False), *rest] for rest in _orders(waiting, running - {job}))


def _value(problem: Scheduling, order: list[tuple[int, bool]]) -> float | None:
    """Give the least sum of completion times in an order; the columns are times of events, then work."""
    events = len(order)
    place = {event: index for index, event in enumerate(order)}
    jobs = range(len(problem.jobs))
    cells = [(j, p) for j in jobs for p in range(place[j, True], place[j, False])]
    column = {cell: events + index for index, cell in enumerate(cells)}
    rows, limits = [], []

    def at_most(entries: dict[int, float]) -> None:
        row = np.zeros(events + len(cells))
        row[list(entries)] = list(entries.values())
        rows.append(row)
        limits.append(0.0)

    for p in range(events - 1):
        at_most({p: 1.0, p + 1: -1.0})
        there = [j for j in jobs if (j, p) in column]
        if sum(min(problem.jobs[j].rates) for j in there) > problem.gpus:
            return None
        at_most({**{column[j, p]: 1.0 for j in there}, p: float(problem.gpus), p + 1: -float(problem.gpus)})
        for j in there:
            fewest, most = min(problem.jobs[j].rates), max(problem.jobs[j].rates)
            at_most({column[j, p]: 1.0, p: float(most), p + 1: -float(most)})
            at_most({column[j, p]: -1.0, p: -float(fewest), p + 1: float(fewest)})
    work = np.zeros((len(jobs), events + len(cells)))
    for (j, _), index in column.items():
        work[j, index] = 1.0
    cost = [float(index < events and not order[index][1]) for index in range(events + len(cells))]
    dates = [(problem.jobs[job].release if starts else 0.0, None) for job, starts in order]
    answer = linprog(
        cost,
        np.array(rows),
        limits,
        work,
        [job.work for job in problem.jobs],
        bounds=[*dates, *[(0.0, None)] * len(cells)],
        method="highs",
    )
    return None if answer.fun is None else float(answer.fun)
