"""Resizing: a few elastic jobs that must not be preempted, and an exact program for every order of events."""

from random import Random

from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.exactness import orders


def elastic(name: str, work: float, fewest: int, most: int, size: int = 1) -> ElasticJob:
    """Return a job of so many GPU-seconds between two numbers of workers of a size."""
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


def draw_any(random: Random) -> Scheduling:
    """Draw one to three jobs: of like sizes, or from nanoseconds to decades; some far away, or since 1970."""
    wide, epoch = random.random() < 0.4, random.choice((0.0, 0.0, 1.7e9 + round(random.random(), 3)))
    scale, latest = 10.0 ** random.randint(-6, 6), random.choice((0, 0, 3))
    base = draw(random, random.choice((1, 2, 2, 3)), latest=latest)
    jobs = []
    for job in base.jobs:
        if wide:
            scale = 10.0 ** random.choice((-8, -4, 0, 0, 3))
        far = random.choice((0.0, 0.0, 0.0, 1e9)) if wide else 0.0
        work = random.choice((job.work, float(max(job.rates))))
        release = epoch + far + job.release * scale
        jobs.append(job.model_copy(update={"work": work * scale, "release": release}))
    said = f"{len(jobs)} jobs{', staggered' * (latest > 0)}{', epoch' * (epoch > 0)}{', wide' * wide}"
    return base.model_copy(update={"jobs": tuple(jobs), "name": said})


def optimum(problem: Scheduling) -> float:
    """Return the least mean job completion time over all orders in which jobs start and complete."""
    found = orders.optimum(problem)
    assert found is not None
    return float(found)
