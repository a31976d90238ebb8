"""Scheduling: a few random jobs, and the best schedule by a linear program for each order of events."""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import groupby, pairwise, permutations, product
from math import inf, ulp
from random import Random
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from gsopt.problems.scheduling import ElasticJob, Scheduling, SchedulingSolution

#: Relative error of a linear program in doubles, scaled so that its value is about 1.
_ERROR = 1e-8

#: Additions and subtractions of clock times that lie between the data and a value.
_CLOCK_OPERATIONS = 16


class _Event(NamedTuple):
    """Jobs that arrive at one time, or the one that completes."""

    jobs: tuple[int, ...]
    time: float | None  # None of a completion


def draw(random: Random) -> Scheduling:
    """Draw up to three jobs; one of four clocks shows seconds since 1970, one of five instances is fair."""
    scale = 10 ** random.uniform(-1, 6)
    epoch = random.choice((0.0, 0.0, 0.0, 1.7e9 + round(random.random(), 3)))
    staggered = random.random() < 0.5
    number = 2 if staggered and random.random() < 0.7 else random.choice((1, 2, 3))
    gpus = random.choice((1, 2, 3, 4, 8))
    fair = random.random() < 0.2
    jobs = []
    for index in range(number):
        counts = sorted(random.sample(range(1, gpus + 1), random.randint(1, min(3, gpus))))
        exponent = random.choice((1.0, 1.0, 0.9, 0.5, -0.5))
        unit = random.choice((1.0, 10 ** random.uniform(-3, 3)))
        work = random.choice((1.0, round(random.uniform(0.5, 4), 1), 10 ** random.uniform(-2, 2)))
        jobs.append(
            ElasticJob(
                name=f"j{index}",
                release=epoch + staggered * scale * round(random.uniform(0, 3), 1),
                work=work * unit * scale,
                rates={count: unit * count**exponent for count in counts},
                gpus=random.choice((None, random.choice(counts))),
            )
        )
    return Scheduling(
        name=f"{number} jobs{', staggered' * staggered}{', epoch' * (epoch > 0)}{', fair' * fair}",
        gpus=gpus,
        jobs=jobs,
        fairness=scale * random.choice((0.0, 0.1, 0.5, 2.0)) if fair else None,
    )


def optimum(problem: Scheduling) -> tuple[float, float] | None:
    """Bracket the optimum; None when the fairness cannot be kept, even with a little more time."""
    clock = _CLOCK_OPERATIONS * ulp(max(job.release for job in problem.jobs))
    loose = _best(problem, relief=1e-8, more=clock)
    if loose is None:
        return None
    tight = _best(problem, relief=-1e-8, more=-clock) if problem.fairness is not None else loose
    most = inf if tight is None else tight
    return loose * (1 - _ERROR) - clock, most * (1 + _ERROR) + clock


def shortest_remaining_time(problem: Scheduling) -> tuple[float, float]:
    """Bracket the optimum of jobs that all run on all GPUs: the one with the least work left goes first."""
    begin = min(job.release for job in problem.jobs)
    ahead = sorted((job.release - begin, job.work / job.rates[problem.gpus]) for job in problem.jobs)
    now = total = 0.0
    there: list[tuple[float, float]] = []  # time left, release date
    while ahead or there:
        if not there:
            now = ahead[0][0]
        while ahead and ahead[0][0] <= now:
            release, left = ahead.pop(0)
            heappush(there, (left, release))
        left, release = heappop(there)
        end = min(now + left, ahead[0][0] if ahead else inf)
        if end < now + left:
            heappush(there, (left - (end - now), release))
        else:
            total += end - release
        now = end
    mean = total / len(problem.jobs)
    clock = _CLOCK_OPERATIONS * ulp(begin + now)
    return mean * (1 - _ERROR) - clock, mean * (1 + _ERROR) + clock


def value(problem: Scheduling, solution: SchedulingSolution) -> float | None:
    """Give the mean completion time; None when work, GPUs, counts or release dates are not kept."""
    clock = _CLOCK_OPERATIONS * ulp(max(run.end for run in solution.runs))
    total = 0.0
    for job in problem.jobs:
        runs = [run for run in solution.runs if run.job == job.name]
        if not runs or any(run.gpus not in job.rates or run.start < job.release - clock for run in runs):
            return None
        done = sum((run.end - run.start) * job.rates[run.gpus] for run in runs)
        if abs(done - job.work) > _ERROR * job.work + len(runs) * clock * max(job.rates.values()):
            return None
        total += max(run.end for run in runs) - job.release
    times = sorted({time for run in solution.runs for time in (run.start, run.end)})
    for begin, end in pairwise(times):
        held = [run for run in solution.runs if run.start <= begin and run.end >= end]
        names = {run.job for run in held}
        if end - begin > clock and (sum(run.gpus for run in held) > problem.gpus or len(names) < len(held)):
            return None
    return total / len(problem.jobs)


def _best(problem: Scheduling, *, relief: float, more: float) -> float | None:
    """Solve a linear program for every order of arrivals and completions, deadlines moved by a little."""
    begin = min(job.release for job in problem.jobs)
    releases = [job.release - begin for job in problem.jobs]
    deadlines: list[float] = []
    if problem.fairness is not None:
        fair = _fluid(problem, releases)
        deadlines = [(time + problem.fairness) * (1 + relief) + more for time in fair]
    found = [
        _solve(problem, releases, deadlines, order)
        for completions in permutations(range(len(releases)))
        for order in _orders(_arrivals(releases), completions)
    ]
    return min((value for value in found if value is not None), default=None)


def _arrivals(releases: Sequence[float]) -> list[_Event]:
    by_date = sorted(range(len(releases)), key=releases.__getitem__)
    return [_Event(tuple(jobs), time) for time, jobs in groupby(by_date, key=releases.__getitem__)]


def _orders(
    arrivals: Sequence[_Event], completions: Sequence[int], there: frozenset[int] = frozenset()
) -> Iterator[list[_Event]]:
    """Merge arrivals and completions so that no job completes before it is there."""
    if not completions:
        yield []
        return
    if arrivals:
        arrived = there.union(arrivals[0].jobs)
        yield from ([arrivals[0], *rest] for rest in _orders(arrivals[1:], completions, arrived))
    if completions[0] in there:
        done = _Event((completions[0],), None)
        yield from ([done, *rest] for rest in _orders(arrivals, completions[1:], there))


def _solve(
    problem: Scheduling, releases: Sequence[float], deadlines: Sequence[float], order: Sequence[_Event]
) -> float | None:
    """Choose how long each way to share the GPUs lasts before each event; None when a deadline is too early."""
    number = len(releases)
    unit = sum(job.duration for job in problem.jobs) / number
    there = _present(order)
    columns = [(index, work) for index in range(1, len(order)) for work in _ways(problem, there[index], unit)]
    before = np.array([index for index, _ in columns])
    until = [(before <= index).astype(float) for index in range(len(order))]  # time of an event, by column
    done = {event.jobs[0]: until[index] for index, event in enumerate(order) if event.time is None}
    dates = [(until[index], event.time / unit) for index, event in enumerate(order) if event.time is not None]
    answer = linprog(
        np.sum(list(done.values()), axis=0),
        A_eq=np.vstack([np.array([work for _, work in columns]).T, [time for time, _ in dates]]),
        b_eq=[1.0] * number + [date for _, date in dates],
        A_ub=np.array([done[job] for job in range(number)]) if deadlines else None,
        b_ub=[deadline / unit for deadline in deadlines] or None,
        method="highs-ds",
    )
    return None if answer.fun is None else (unit * answer.fun - sum(releases)) / number


def _present(order: Sequence[_Event]) -> list[list[int]]:
    """Give the jobs that are there before each event."""
    there: set[int] = set()
    found = []
    for event in order:
        found.append(sorted(there))
        there = there.difference(event.jobs) if event.time is None else there.union(event.jobs)
    return found


def _ways(problem: Scheduling, there: Sequence[int], unit: float) -> Iterator[list[float]]:
    """Give every way to share the GPUs among some jobs: the part of each job's work done per unit of time."""
    for way in product(*([(0, 0.0), *problem.jobs[job].rates.items()] for job in there)):
        if sum(gpus for gpus, _ in way) <= problem.gpus:
            done = [0.0] * len(problem.jobs)
            for job, (_, rate) in zip(there, way, strict=True):
                done[job] = rate / problem.jobs[job].work * unit
            yield done


def _fluid(problem: Scheduling, releases: Sequence[float]) -> list[float]:
    """Give when each job completes if the jobs that are there share all GPUs equally, as a fluid."""
    left = {index: job.duration * job.demand for index, job in enumerate(problem.jobs)}
    ends = [0.0] * len(releases)
    now = 0.0
    while left:
        there = [job for job in left if releases[job] <= now]
        ahead = [releases[job] for job in left if releases[job] > now]
        if not there:
            now = min(ahead)
            continue
        share = problem.gpus / len(there)
        first = min(there, key=left.__getitem__)
        end = now + left[first] / share
        until = min([end, *ahead])
        for job in there:
            left[job] -= share * (until - now)
        if until == end:
            ends[first] = end
            del left[first]
        now = until
    return ends
