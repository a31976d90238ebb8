"""Scheduling: a few random jobs, and the best schedule by an exact program for each order of events."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import inf, ulp
from random import Random

from gsopt.core.numbers.grid import decimal
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution
from tests.exactness import orders, resizing

#: Relative width of the bracket around an optimum: values are floats.
_ERROR = Fraction(1, 10**9)

#: Part of the time from release to deadline that the problem excuses.
_EXCUSED = Fraction(1, 10**9)

#: Ticks of the clock by which runs in floats may be off, each.
_TICKS = 16


def draw(random: Random) -> Scheduling:
    """Draw up to three jobs: of like sizes, or from nanoseconds to decades; some far away, some fair.

    One of four clocks shows seconds since 1970, one of five instances is fair, and in one of five no job may be
    preempted.
    """
    if random.random() < 0.2:
        return resizing.draw_any(random)
    wide = random.random() < 0.4
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
        if wide:
            scale = 10.0 ** random.choice((-8, -6, -3, 0, 0, 3))
        far = random.choice((0.0, 0.0, 0.0, 1e9)) if wide else 0.0
        rates = {count: unit * count**exponent for count in counts}
        jobs.append(
            ElasticJob(
                name=f"j{index}",
                release=epoch + far + staggered * scale * round(random.uniform(0, 3), 1),
                work=max(work * unit * scale, 1.1e-9 * max(rates.values())),
                rates=rates,
                gpus=random.choice((None, random.choice(counts))),
            )
        )
    kinds = {"staggered": staggered, "epoch": epoch > 0, "fair": fair, "wide": wide}
    return Scheduling(
        name=", ".join([f"{number} jobs", *(kind for kind, is_so in kinds.items() if is_so)]),
        gpus=gpus,
        jobs=jobs,
        fairness=scale * random.choice((0.0, 0.1, 0.5, 2.0)) if fair else None,
    )


def optimum(problem: Scheduling) -> tuple[Fraction, Fraction | float] | None:
    """Bracket the optimum; None when the fairness cannot be kept, even with what is excused of it."""
    loose = orders.optimum(problem, excused=_EXCUSED)
    if loose is None:
        return None
    tight = loose if problem.fairness is None else orders.optimum(problem)
    return loose * (1 - _ERROR), inf if tight is None else tight * (1 + _ERROR)


def shortest_remaining_time(problem: Scheduling) -> tuple[float, float]:
    """Bracket the optimum of jobs that all run on all GPUs: the one with the least work left goes first."""
    begin = min(decimal(job.release) for job in problem.jobs)
    ahead = sorted(
        (decimal(job.release) - begin, Fraction(decimal(job.work)) / decimal(job.rates[problem.gpus]))
        for job in problem.jobs
    )
    now, total = Fraction(0), Fraction(0)
    there: list[tuple[Fraction, Fraction]] = []  # time left, release date
    while ahead or there:
        if not there:
            now = Fraction(ahead[0][0])
        while ahead and ahead[0][0] <= now:
            release, left = ahead.pop(0)
            heappush(there, (left, Fraction(release)))
        left, date = heappop(there)
        end = min(now + left, ahead[0][0]) if ahead else now + left
        if end < now + left:
            heappush(there, (left - (end - now), date))
        else:
            total += end - date
        now = Fraction(end)
    mean = total / len(problem.jobs)
    return float(mean * (1 - _ERROR)), float(mean * (1 + _ERROR))


def value(problem: Scheduling, solution: SchedulingSolution) -> Fraction | None:
    """Return the mean completion time; None when work, GPUs, counts or release dates are not kept.

    Exact instants keep them exactly, but for a tick of work too much; floats up to a few ticks of the clock.
    """
    total = Fraction(0)
    times = {run: (Fraction(decimal(run.start)), Fraction(decimal(run.end))) for run in solution.runs}
    own: dict[str, list[Run]] = {job.name: [] for job in problem.jobs}
    for run in solution.runs:
        own[run.job].append(run)
    clock = {name: _clock(runs) for name, runs in own.items()}
    for job in problem.jobs:
        runs = own[job.name]
        slack, release = clock[job.name], decimal(job.release)
        if not runs or any(run.gpus not in job.rates or times[run][0] < release - slack for run in runs):
            return None
        done = sum((times[run][1] - times[run][0]) * decimal(job.rates[run.gpus]) for run in runs)
        fastest = decimal(max(job.rates[run.gpus] for run in runs))
        least, most = decimal(job.work) - slack * fastest, decimal(job.work) * (1 + _ERROR) + slack * fastest
        if not least <= done <= most:
            return None
        total += max(times[run][1] for run in runs) - release
    return total / len(problem.jobs) if _fits(problem, times, clock) else None


def _fits(
    problem: Scheduling, times: Mapping[Run, tuple[Fraction, Fraction]], clock: Mapping[str, Fraction]
) -> bool:
    """Check whether there are GPUs enough at any time, and no job has two runs, but for a moment."""
    held: set[Run] = set()
    changes = sorted(
        ((time, run) for run, pair in times.items() for time in pair), key=lambda change: change[0]
    )
    for (time, run), (following, _) in pairwise(changes):
        held ^= {run}
        names = [each.job for each in held]
        crowded = sum(each.gpus for each in held) > problem.gpus or len({*names}) < len(names)
        if crowded and following - time > max(clock[name] for name in names):
            return False
    return True


def _clock(runs: Sequence[object]) -> Fraction:
    """Return by how many seconds the runs of a job may be off."""
    ends = [getattr(run, name) for run in runs for name in ("start", "end")]
    if all(isinstance(end, Fraction) for end in ends):  # or there are none
        return Fraction(0)
    span = max(map(float, ends)) - min(map(float, ends))
    return Fraction(_TICKS * len(ends) * ulp(max(map(float, ends)))) + Fraction(span) / 10**9
