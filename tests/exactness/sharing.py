"""Sharing: a few random jobs, and the best schedule by trying every start at every event."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import NamedTuple

from gsopt.job import Job
from gsopt.problems.sharing import Sharing, SharingSolution
from tests.exactness.numbers import exactly


class _Now(NamedTuple):
    """An instant: the time, who runs where with how much left, and who ended when."""

    time: Fraction
    left: Mapping[str, Fraction]
    held: Mapping[str, frozenset[int]]
    ends: Mapping[str, Fraction]


def draw(random: Random) -> Sharing:
    """Draw up to three jobs on up to three GPUs; some all at once, some on a clock since 1970."""
    scale = random.choice((1.0, 1.0, 0.001, 1e4))
    epoch = random.choice((0.0, 0.0, 1.7e9 + round(random.random(), 2))) if scale >= 1 else 0.0
    staggered, number = random.random() < 0.5, random.choice((1, 2, 3, 3))
    gpus, limit = random.randint(1, 3), random.choice((1, 2, 2, 2))
    names = [f"j{index}" for index in range(number)]
    jobs = [
        Job(
            name=name,
            release_date=epoch + staggered * scale * random.randint(0, 15),
            duration=scale * random.randint(1, 15),
            gpus=random.randint(1, gpus),
            model=random.choice([*names, "unknown"]),
            memory=random.choice((None, 1, 2)),
        )
        for name in names
    ]
    return Sharing(
        name=f"{number} jobs{', staggered' * staggered}{', epoch' * (epoch > 0)}",
        gpus=gpus,
        jobs=jobs,
        interference={
            one: {other: random.choice((1.0, 1.5, round(random.uniform(1, 3), 2))) for other in names}
            for one in names
        },
        default_interference=random.choice((1.0, 1.25)),
        share_limit=limit,
        memory=random.choice((None, 2, 3)),
    )


def optimum(problem: Sharing) -> Fraction:
    """Give the least value of all schedules of starts at events."""
    first = min(exactly(job.release_date) for job in problem.jobs)
    return min(_value(problem, ends) for ends in _ends(problem, _Now(first, {}, {}, {}), 0))


def value(problem: Sharing, solution: SharingSolution) -> Fraction | None:
    """Give the value; None when a job does not run once, too early, not at an event, or beside too many.

    Starts are floats: what lies within a billionth of the span, or microseconds since 1970, is one instant.
    """
    jobs = {job.name: job for job in problem.jobs}
    if sorted(run.job for run in solution.runs) != sorted(jobs):
        return None
    first = min(exactly(job.release_date) for job in problem.jobs)
    waiting = sorted(solution.runs, key=lambda run: run.start)
    now = _Now(first, {}, {}, {})
    while len(now.ends) < len(jobs):
        near = (now.time - first) / 10**8 + now.time / 10**14
        while waiting and exactly(waiting[0].start) <= now.time + near:
            run = waiting.pop(0)
            gpus = frozenset(run.gpus)
            right = len(run.gpus) == len(gpus) == jobs[run.job].gpus
            if not right or abs(exactly(run.start) - now.time) > near:
                return None
            if run.job not in _waiting(problem, now) or not _fits(problem, now, run.job, gpus):
                return None
            now = _started(problem, now, run.job, gpus)
        later = _later(problem, now)
        if later is None:
            return None
        now = later
    return _value(problem, now.ends)


def _ends(problem: Sharing, now: _Now, first: int) -> Iterator[Mapping[str, Fraction]]:
    """Let another job start now, of a later place than the one before, or time pass."""
    if len(now.ends) == len(problem.jobs):
        yield now.ends
        return
    for place, job in enumerate(problem.jobs):
        if place >= first and job.name in _waiting(problem, now):
            for gpus in combinations(range(problem.gpus), job.gpus):
                if _fits(problem, now, job.name, frozenset(gpus)):
                    yield from _ends(problem, _started(problem, now, job.name, frozenset(gpus)), place + 1)
    later = _later(problem, now)
    if later is not None:
        yield from _ends(problem, later, 0)


def _waiting(problem: Sharing, now: _Now) -> set[str]:
    there = {job.name for job in problem.jobs if exactly(job.release_date) <= now.time}
    return there - now.left.keys() - now.ends.keys()


def _fits(problem: Sharing, now: _Now, name: str, gpus: frozenset[int]) -> bool:
    memory = {job.name: job.memory or 0 for job in problem.jobs}
    for gpu in gpus:
        users = [name, *(other for other, held in now.held.items() if gpu in held)]
        if len(users) > problem.share_limit:
            return False
        if problem.memory is not None and sum(memory[user] for user in users) > problem.memory:
            return False
    return True


def _started(problem: Sharing, now: _Now, name: str, gpus: frozenset[int]) -> _Now:
    seconds = next(exactly(job.duration) for job in problem.jobs if job.name == name)
    return now._replace(left={**now.left, name: seconds}, held={**now.held, name: gpus})


def _later(problem: Sharing, now: _Now) -> _Now | None:
    """Give the next instant at which a job arrives or ends; None when there is none."""
    model = {job.name: job.model for job in problem.jobs}
    slow = {
        name: max(
            [Fraction(1)]
            + [
                exactly(
                    problem.interference.get(model[name], {}).get(model[other], problem.default_interference)
                )
                for other in now.held
                if other != name and now.held[other] & now.held[name]
            ]
        )
        for name in now.left
    }
    times = [now.time + now.left[name] * slow[name] for name in now.left]
    times += [time for job in problem.jobs if (time := exactly(job.release_date)) > now.time]
    if not times:
        return None
    time = min(times)
    left = {name: work - (time - now.time) / slow[name] for name, work in now.left.items()}
    over = {name: time for name, work in left.items() if work <= 0}
    return _Now(
        time,
        {name: work for name, work in left.items() if name not in over},
        {name: held for name, held in now.held.items() if name not in over},
        {**now.ends, **over},
    )


def _value(problem: Sharing, ends: Mapping[str, Fraction]) -> Fraction:
    total = sum((ends[job.name] - exactly(job.release_date) for job in problem.jobs), Fraction(0))
    return total / len(problem.jobs)
