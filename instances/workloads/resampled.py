"""Resampled: jobs drawn from workloads, as many as a cluster of another size gets."""

from collections.abc import Iterable
from math import isfinite
from random import Random

from gsopt.core.errors import require
from gsopt.scenario.job import Workload


def resampled(workloads: Iterable[Workload], *, jobs: int, seconds: float, seed: int = 0) -> Workload:
    """Draw jobs with return from some workloads, and release dates uniformly over a time.

    The release dates are those of a Poisson process of which the number of arrivals is known. Each job is named
    after the draw and the job drawn.

    Parameters
    ----------
    workloads
        What the jobs are drawn from.
    jobs
        Number of jobs.
    seconds
        Length of the time over which they are released.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        There is no job to draw, or an argument is out of its range.
    """
    require(jobs >= 1, "jobs", jobs, "must be at least 1")
    require(isfinite(seconds) and seconds > 0, "seconds", seconds, "must be a finite number above 0")
    given = list(workloads)
    pool = [job for workload in given for job in workload.jobs]
    require(bool(pool), "workloads", len(given), "must hold at least one job")
    random = Random(seed)
    dates = sorted(round(random.uniform(0, seconds), 3) for _ in range(jobs))
    drawn = ((random.choice(pool), date) for date in dates)
    sources = "; ".join(dict.fromkeys(workload.source for workload in given if workload.source))
    return Workload(
        name=f"resampled-{jobs}",
        source=f"{jobs} jobs over {seconds:g} s drawn with seed {seed} from: {sources or 'made-up jobs'}",
        jobs=tuple(
            job.model_copy(update={"name": f"j{number}-{job.name}", "release_date": date})
            for number, (job, date) in enumerate(drawn, start=1)
        ),
    )
