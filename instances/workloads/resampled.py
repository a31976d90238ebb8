"""Resampled: jobs drawn from workloads for a cluster of another size."""

from collections.abc import Iterable
from math import isfinite
from random import Random

from gsopt.core.errors import require
from gsopt.scenario.job import Workload
from instances.arguments import at_least


def resampled(workloads: Iterable[Workload], *, jobs: int, seconds: float, seed: int = 0) -> Workload:
    """Draw jobs with replacement from workloads, and release dates uniformly between 0 and `seconds`.

    Such release dates are those of a Poisson process with a known number of arrivals. Each job is named after
    its index and the job that was drawn.
    """
    at_least(1, jobs=jobs)
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
