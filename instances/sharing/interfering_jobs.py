"""Interfering jobs: random rigid jobs that slow each other down by random factors, different for each pair."""

from itertools import accumulate
from math import isfinite
from random import Random
from typing import Literal, get_args

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from instances.arguments import at_least

Starts = Literal["events", "any"]

#: Shortest and longest duration of a job that runs alone, in whole seconds.
_SHORTEST, _LONGEST = 2, 20


def interfering_jobs(
    *,
    jobs: int = 6,
    gpus: int = 8,
    load: float = 1.2,
    least: float = 1.05,
    most: float = 2.2,
    starts: Starts = "events",
    seed: int = 0,
) -> Sharing:
    """Generate rigid jobs that arrive one after another, each of a different model.

    A job demands a number of GPUs that is a power of two, and takes 2 to 20 seconds when it runs alone. All
    values are equally likely. The slowdowns of ordered pairs are independent and uniform, rounded to two
    decimals.

    Parameters
    ----------
    jobs, gpus
        Number of jobs, and number of GPUs.
    load
        Expected GPU time submitted per second and GPU. Gaps between arrivals are exponential, and release dates
        are rounded to a tenth of a second.
    least, most
        Limits of the slowdowns.
    starts
        When jobs may start. ``"events"``: only when a job arrives or ends. ``"any"``: at any time.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = interfering_jobs(jobs=3, gpus=4, seed=1)
    >>> [(job.release_date, job.duration, job.gpus) for job in problem.jobs]
    [(0.0, 20.0, 1), (4.7, 10.0, 1), (6.8, 17.0, 1)]
    """
    at_least(1, jobs=jobs, gpus=gpus)
    require(isfinite(load) and load > 0, "load", load, "must be above 0 and finite")
    require(isfinite(least) and least >= 1, "least", least, "must be at least 1 and finite")
    require(isfinite(most) and most >= least, "most", most, f"must be at least {least:g} and finite")
    require(starts in get_args(Starts), "starts", starts, "must be one of events, any")
    random = Random(seed)
    sizes = [2**power for power in range(gpus.bit_length())]
    drawn = [(random.choice(sizes), float(random.randint(_SHORTEST, _LONGEST))) for _ in range(jobs)]
    gap = sum(size * seconds for size, seconds in drawn) / (jobs * gpus * load)
    gaps = [random.expovariate(1.0) * gap for _ in drawn[1:]]
    names = [f"j{number}" for number in range(1, jobs + 1)]
    return Sharing(
        name="interfering-jobs",
        about=About(source=f"interfering_jobs, load {load:g}, slowdowns {least:g} to {most:g}", seed=seed),
        gpus=gpus,
        jobs=[
            Job(name=name, release_date=round(release, 1), duration=seconds, gpus=size, model=name)
            for name, (size, seconds), release in zip(names, drawn, accumulate(gaps, initial=0.0), strict=True)
        ],
        interference={
            one: {other: round(random.uniform(least, most), 2) for other in names if other != one}
            for one in names
        },
        starts=starts,
    )
