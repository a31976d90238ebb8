"""Poisson: workloads with Poisson arrivals at a given load."""

from itertools import accumulate
from random import Random

from gsopt.core.errors import require
from gsopt.scenario.job import Job, Workload
from instances.arguments import at_least
from instances.workloads.distributions import PHILLY, JobDistribution

#: Smallest and largest load; beyond them, release dates would be unreasonable.
_LEAST_LOAD, _MOST_LOAD = 1e-6, 1e6


def poisson(
    *,
    jobs: int = 100,
    gpus: int = 64,
    load: float = 0.9,
    exact_load: bool = True,
    shape: JobDistribution = PHILLY,
    seed: int = 0,
) -> Workload:
    """Generate jobs with Poisson arrivals, the first one at time 0.

    The gaps between arrivals are exponential, and scaled so that the jobs have exactly the given load: their
    GPU time is `load` times the GPU time of the cluster between the first and the last arrival.

    With ``exact_load=False``, the jobs have the given load only in expectation. Because a few jobs account for
    most of the GPU time, the load of 300 jobs like Philly's is then between about 0.4 and 2 times the given
    load in nine out of ten cases.

    Parameters
    ----------
    jobs, gpus, shape
        As in `batch`.
    load
        GPU-seconds submitted per second and GPU, between 1e-6 and 1e6. Above 1 the cluster is overloaded.
    exact_load
        Whether the drawn jobs have exactly this load, rather than only in expectation.
    seed
        Seed of all random draws. Apart from the release dates, the jobs are the same for every load, and the
        same as those of `batch`.

    Examples
    --------
    >>> calm, busy = poisson(jobs=50, load=0.5), poisson(jobs=50, load=1)
    >>> round(busy.gpu_hours * 3600 / (64 * busy.jobs[-1].release_date), 3)
    1.0
    >>> calm.jobs[0].release_date, calm.gpu_hours == busy.gpu_hours
    (0.0, True)
    >>> round(calm.jobs[-1].release_date / busy.jobs[-1].release_date, 3)
    2.0
    """
    at_least(1, jobs=jobs)
    require(_LEAST_LOAD <= load <= _MOST_LOAD, "load", load, "must be between 1e-6 and 1e6")
    random = Random(seed)
    drawn = list(shape.draw(jobs, gpus, random))
    arrivals = list(accumulate((random.expovariate(1.0) for _ in drawn[1:]), initial=0.0))
    gap = shape.mean_gpu_seconds(gpus) / (load * gpus)
    if exact_load and arrivals[-1]:
        gap = sum(demand * duration for demand, duration in drawn) / (load * gpus * arrivals[-1])
    what = f"{jobs} Poisson arrivals at load {load:g} of {gpus} GPUs"
    return Workload(
        name=f"poisson-{jobs}",
        source=f"{what}, shaped like: {shape.source}; seed {seed}",
        jobs=tuple(
            Job(name=f"j{number}", release_date=round(arrival * gap, 3), duration=duration, gpus=demand)
            for number, (arrival, (demand, duration)) in enumerate(zip(arrivals, drawn, strict=True), start=1)
        ),
    )
