"""Sharing: a few random jobs, and the best schedule by trying every start at every event, in fractions."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import NamedTuple

from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.scenario.job import Job
from tests.exactness.numbers import FAMILIES, Draw, exactly

#: How long and how short a job may be.
_SHORTEST, _LONGEST = 1e-9, 1e9


class _Now(NamedTuple):
    """An instant: the time, who runs where with how much left, and who ended when."""

    time: Fraction
    left: Mapping[str, Fraction]
    held: Mapping[str, frozenset[int]]
    ends: Mapping[str, Fraction]


def draw(random: Random) -> Sharing:
    """Draw up to three jobs on up to three GPUs, some all at once, some on a clock since 1970 or far apart."""
    return drawn(random, random.choice((1, 2, 3, 3)), random.randint(1, 3))


def drawn(random: Random, number: int, gpus: int) -> Sharing:
    """Draw so many jobs: whole or hard numbers; a few at any time, or one far from the others."""
    scale = random.choice((1.0, 1.0, 0.001, 1e4))
    seconds: Callable[[], float] = random.choice(
        (lambda: scale * random.randint(1, 15), _family(random), _family(random))
    )
    date: Callable[[], float] = random.choice(
        (lambda: 0.0, lambda: scale * random.randint(0, 15), _family(random), seconds)
    )
    epoch = random.choice((0.0, 0.0, 1.7e9 + round(random.random(), 2)))
    slow = random.choice((_slowdown, _slowdown, lambda _: 1.5, lambda _: 1.0))
    far = random.choice((0.0, 0.0, 0.0, 10.0 ** random.randint(6, 9)))
    names = [f"j{index}" for index in range(number)]
    alike = random.random() < 0.2
    length = min(max(seconds(), _SHORTEST), _LONGEST)
    jobs = [
        Job(
            name=name,
            release_date=epoch + date() + far * (index == 0),
            duration=length if alike else min(max(seconds(), _SHORTEST), _LONGEST),
            gpus=random.randint(1, gpus),
            model=random.choice([*names, "unknown"]),
            memory=random.choice((None, 1, 2)),
        )
        for index, name in enumerate(names)
    ]
    return Sharing(
        name=f"{number} jobs{', epoch' * (epoch > 0)}{', far' * (far > 0)}",
        gpus=gpus,
        jobs=random.sample(jobs, number),
        interference={one: {other: slow(random) for other in names} for one in names},
        default_interference=random.choice((1.0, 1.25)),
        share_limit=random.choice((1, 2, 2, 2)),
        memory=random.choice((None, None, 2, 3)),
    )


def _family(random: Random) -> Draw:
    return FAMILIES[random.choice(list(FAMILIES))](random)


def _slowdown(random: Random) -> float:
    tie = 1.5 + random.randint(-1, 1) * 2**-52
    return random.choice((1.0, 1.5, tie, round(random.uniform(1, 3), 2), random.uniform(1, 6)))


def optimum(problem: Sharing) -> Fraction:
    """Return the least value of all schedules of starts at events.

    Of GPUs that the same jobs hold the first are taken, states that were seen at no higher cost are left out,
    and what ends too late even if all others ran alone from now on.
    """
    first = min(exactly(job.release_date) for job in problem.jobs)
    total = _Least(problem).search(_Now(first, {}, {}, {}))
    return (total - sum(exactly(job.release_date) for job in problem.jobs)) / len(problem.jobs)


class _Least:
    """The least sum of ends, by trying everything."""

    def __init__(self, problem: Sharing) -> None:
        self.problem, self.best = problem, Fraction(10) ** 30
        self.seen: dict[object, Fraction] = {}

    def search(self, now: _Now, first: int = 0) -> Fraction:
        """Let another job start now, of a later place than the one before, or time pass."""
        if len(now.ends) == len(self.problem.jobs):
            self.best = min(self.best, sum(now.ends.values(), Fraction(0)))
            return self.best
        for place, job in enumerate(self.problem.jobs):
            if place >= first and job.name in _waiting(self.problem, now):
                for gpus in self._choices(now, job.gpus):
                    if _fits(self.problem, now, job.name, gpus):
                        self.search(_started(self.problem, now, job.name, gpus), place + 1)
        later = _later(self.problem, now)
        if later is not None and self._may_be_better(later):
            self.search(later)
        return self.best

    def _choices(self, now: _Now, count: int) -> Iterator[frozenset[int]]:
        holders = [
            tuple(name for name, held in now.held.items() if gpu in held) for gpu in range(self.problem.gpus)
        ]
        tried = set()
        for gpus in combinations(range(self.problem.gpus), count):
            alike = tuple(sorted(holders[gpu] for gpu in gpus))
            if alike not in tried:
                tried.add(alike)
                yield frozenset(gpus)

    def _may_be_better(self, now: _Now) -> bool:
        cost = sum(now.ends.values(), Fraction(0))
        alone = [
            max(now.time, exactly(job.release_date)) + now.left.get(job.name, exactly(job.duration))
            for job in self.problem.jobs
            if job.name not in now.ends
        ]
        gpus = range(self.problem.gpus)
        crowds = sorted(tuple(sorted(name for name, held in now.held.items() if gpu in held)) for gpu in gpus)
        state = (now.time, tuple(sorted(now.left.items())), tuple(crowds), frozenset(now.ends))
        if cost + sum(alone) >= self.best or self.seen.get(state, cost + 1) <= cost:
            return False
        self.seen[state] = cost
        return True


def value(problem: Sharing, solution: SharingSolution) -> Fraction | None:
    """Return the value; None when a job does not run once, too early, not at an event, or beside too many."""
    jobs = {job.name: job for job in problem.jobs}
    if sorted(run.job for run in solution.runs) != sorted(jobs):
        return None
    now = _Now(min(exactly(job.release_date) for job in problem.jobs), {}, {}, {})
    waiting = sorted(solution.runs, key=lambda run: exactly(run.start))
    while len(now.ends) < len(jobs):
        while waiting and exactly(waiting[0].start) <= now.time:
            run = waiting.pop(0)
            gpus = frozenset(run.gpus)
            right = len(run.gpus) == len(gpus) == jobs[run.job].gpus
            if not right or exactly(run.start) < now.time:
                return None
            if run.job not in _waiting(problem, now) or not _fits(problem, now, run.job, gpus):
                return None
            now = _started(problem, now, run.job, gpus)
        between = exactly(waiting[0].start) if waiting and problem.starts == "any" else None
        later = _later(problem, now, between)
        if later is None:
            return None
        now = later
    return _value(problem, now.ends)


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


def _later(problem: Sharing, now: _Now, between: Fraction | None = None) -> _Now | None:
    """Return the next instant at which a job arrives or ends, or the one before it; None when there is none."""
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
    if between is not None and between > now.time:
        times.append(between)
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
