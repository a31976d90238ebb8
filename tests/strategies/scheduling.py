"""Tiny problems of scheduling over time, small enough to enumerate the orders of their events."""

from collections.abc import Sequence
from random import Random
from string import ascii_lowercase

from formulations.scheduling.instance import Instance
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.timetable import TimetableStep, replay
from gsopt.problems.scheduling import ElasticJob, Scheduling


def tiny(
    seed: int,
    *,
    jobs: Sequence[int] = (2, 3, 4),
    gpus: Sequence[int] = (2, 3, 4, 6, 8),
    fair: bool = False,
    halves: bool = False,
) -> Scheduling:
    """Draw a few jobs of like size with linear or concave speed-up, released together or one after the other.

    Half of the instances have powers of two as counts, the other half any counts.

    Parameters
    ----------
    seed
        Seed of all draws.
    jobs
        Numbers of jobs to draw from.
    gpus
        Numbers of GPUs to draw from.
    fair
        Whether to draw a fairness constraint, which may have no solution.
    halves
        Whether release dates are multiples of half a second, which late clocks can tell.
    """
    random = Random(seed)
    number, capacity = random.choice(jobs), random.choice(gpus)
    any_count = random.random() < 0.5
    counts = [count for count in range(1, capacity + 1) if any_count or count & (count - 1) == 0]
    spread = random.choice((0, 0, 1, 2))
    drawn = []
    for index in range(number):
        menu = sorted(random.sample(counts, random.randint(1, min(3, len(counts)))))
        exponent = random.choice((1.0, 0.9, 0.6))
        drawn.append(
            ElasticJob(
                name=f"j{index}",
                release=_rounded(random.random() * spread, halves=halves),
                work=round(random.uniform(1, 4) * menu[-1] ** 0.5, 2),
                rates={count: count**exponent for count in menu},
                gpus=random.choice(menu),
            )
        )
    fairness = random.choice((0.1, 0.3, 0.6, 1.0, 2.0)) if fair else None
    return Scheduling(name=f"tiny-{seed}", gpus=capacity, jobs=drawn, fairness=fairness)


def _rounded(time: float, *, halves: bool) -> float:
    return round(2 * time) / 2 if halves else round(time, 1)


def one_by_one(instance: Instance) -> OrderPlan:
    """Run the jobs alone, one after the other, on as few GPUs as each may."""
    steps: list[TimetableStep] = []
    for job, modes in enumerate(instance.modes):
        steps += [TimetableStep(max(instance.release[job] - sum(step.duration for step in steps), 0.0), {})]
        steps += [TimetableStep(instance.work[job] / modes[0].rate, {job: modes[0].gpus})]
    return OrderPlan(tuple(steps), replay(instance, steps).completions)


def wandering(instance: Instance, random: Random) -> tuple[list[TimetableStep], list[float]]:
    """Run random configurations until all is done; give the steps and the completion times."""
    left, now = list(instance.work), 0.0
    steps: list[TimetableStep] = []
    completions = [0.0] * len(instance)
    while any(left):
        ahead = [time - now for time in instance.arrivals if time > now]
        free, rates, gpus = instance.gpus, {}, {}
        for job in random.sample(range(len(instance)), len(instance)):
            modes = [mode for mode in instance.modes[job] if mode.gpus <= free]
            if instance.release[job] <= now and left[job] and modes and random.random() < 0.8:
                mode = random.choice(modes)
                gpus[job], rates[job] = mode
                free -= mode.gpus
        ends = {job: left[job] / rate for job, rate in rates.items()}
        duration = min([*ends.values(), *ahead, random.uniform(0.1, 2.0)])
        steps.append(TimetableStep(duration, gpus))
        now = min((time for time in instance.arrivals if duration == time - now), default=now + duration)
        for job, rate in rates.items():
            left[job] = 0.0 if ends[job] == duration else left[job] - duration * rate
            completions[job] = now
    return steps, completions


def rigid(*jobs: tuple[float, float], gpus: int = 1, fairness: float | None = None) -> Scheduling:
    """Return jobs a, b, ... by release date and seconds, each on one GPU."""
    named = zip((*ascii_lowercase, *range(len(jobs))), jobs, strict=False)
    made = [ElasticJob(name=str(n), release=r, work=w, rates={1: 1.0}) for n, (r, w) in named]
    return Scheduling(gpus=gpus, jobs=made, fairness=fairness)


def packing() -> Scheduling:
    """Return a job that needs both GPUs for 1 s and one that needs either for 2 s."""
    wide = ElasticJob(name="a", release=0, work=1, rates={2: 1.0})
    long = ElasticJob(name="b", release=0, work=2, rates={1: 1.0})
    return Scheduling(name="packing", gpus=2, jobs=[wide, long])


def figure_4() -> Scheduling:
    """Return the jobs of Ares, Figure 4, the second of 24 GPU-seconds."""
    sizes = [("1", 0, 12, (1, 2, 4)), ("2", 0, 24, (1, 2, 4, 6)), ("3", 2, 12, (1, 2, 4))]
    jobs = [
        ElasticJob(name=name, release=release, work=work, rates={count: float(count) for count in counts})
        for name, release, work, counts in sizes
    ]
    return Scheduling(name="figure-4", gpus=6, jobs=jobs)
