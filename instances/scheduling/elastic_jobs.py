"""Elastic jobs: random jobs of very different lengths that keep a cluster busy."""

from itertools import accumulate
from math import isfinite
from random import Random
from typing import Literal, get_args

from gsopt.core.errors import require, require_one_of
from gsopt.core.problem import About
from gsopt.problems.scheduling import ElasticJob, Scheduling
from instances.arguments import at_least
from instances.scheduling.counts import Counts, restricted

Scaling = Literal["concave", "linear"]

#: Percentage of jobs by number of demanded GPUs.
_DEMANDS = {1: 40, 2: 25, 4: 20, 8: 15}

#: Durations in seconds on the demanded GPUs are log-normal, with a median of 20 minutes.
_MEDIAN, _SPREAD, _SHORTEST, _LONGEST = 1_200, 1.3, 30, 432_000

#: Limits of the share of a job's work that is serial; the share is log-uniform.
_LEAST_SERIAL, _MOST_SERIAL = 0.01, 0.6

_LEAST_LOAD, _MOST_LOAD = 1e-6, 1e6


def elastic_jobs(
    *,
    jobs: int = 8,
    gpus: int = 8,
    load: float = 1.0,
    scaling: Scaling = "concave",
    counts: Counts = "all",
    alpha: float = 0.75,
    at_once: bool = False,
    seed: int = 0,
) -> Scheduling:
    """Generate elastic jobs with Poisson arrivals, the first one at time 0.

    A job demands 1, 2, 4 or 8 GPUs, and may run on this number or on twice, four times, ... as many. A few long
    jobs account for much of the work. Work, rates and release dates are rounded to three significant digits.

    Parameters
    ----------
    jobs
        Number of jobs.
    gpus
        Number of GPUs. No job demands more.
    load
        Mean GPU-seconds of the drawn jobs on their demanded GPUs, divided by the GPU-seconds available in the
        mean gap between two arrivals. Must be between 1e-6 and 1e6.
    scaling
        ``concave``: on m times its demanded GPUs, a job is m / (1 + s (m - 1)) times as fast (Amdahl's law),
        where the serial fraction s is drawn for each job. ``linear``: it is m times as fast.
    counts
        ``all``: every doubling that fits on the cluster. ``alpha``: only the doublings that elastic fair
        queuing may use with the scaling control threshold `alpha`.
    alpha
        Scaling control threshold for ``counts="alpha"``, above 0 and at most 1.
    at_once
        Whether all jobs are released at time 0.
    seed
        Seed of all random draws. The same demands and work are drawn for every load, scaling and choice of
        counts.

    Examples
    --------
    >>> problem = elastic_jobs(jobs=20, gpus=16, seed=1)
    >>> len(problem.jobs), {job.demand for job in problem.jobs}, problem.jobs[0].release
    (20, {8, 1, 2, 4}, 0.0)
    >>> elastic_jobs(jobs=1, gpus=4, scaling="linear", seed=3).jobs[0].rates
    {1: 1.0, 2: 2.0, 4: 4.0}
    """
    at_least(1, jobs=jobs, gpus=gpus)
    require(_LEAST_LOAD <= load <= _MOST_LOAD, "load", load, "must be between 1e-6 and 1e6")
    require_one_of("scaling", scaling, get_args(Scaling))
    require_one_of("counts", counts, get_args(Counts))
    require(isfinite(alpha) and 0 < alpha <= 1, "alpha", alpha, "must be above 0 and at most 1")
    random = Random(seed)
    drawn = [_job(random, f"j{number}", gpus, scaling) for number in range(1, jobs + 1)]
    gaps = [random.expovariate(1.0) for _ in drawn[1:]]
    gap = 0.0 if at_once else sum(job.work for job in drawn) / len(drawn) / (load * gpus)
    releases = [_short(gap * place) for place in accumulate(gaps, initial=0.0)]
    problem = Scheduling(
        name="elastic-jobs",
        about=About(source=_source(load, scaling, counts, alpha, at_once=at_once), seed=seed),
        gpus=gpus,
        jobs=tuple(
            job.model_copy(update={"release": release}) for job, release in zip(drawn, releases, strict=True)
        ),
    )
    return restricted(problem, alpha) if counts == "alpha" else problem


def _job(random: Random, name: str, gpus: int, scaling: Scaling) -> ElasticJob:
    demands = {demand: weight for demand, weight in _DEMANDS.items() if demand <= gpus}
    demand = random.choices(*zip(*demands.items(), strict=True))[0]
    seconds = min(max(_MEDIAN * random.lognormvariate(0, _SPREAD), _SHORTEST), _LONGEST)
    drawn = _LEAST_SERIAL * (_MOST_SERIAL / _LEAST_SERIAL) ** random.random()
    serial = drawn if scaling == "concave" else 0.0
    multiples = [2**doubling for doubling in range((gpus // demand).bit_length())]
    rates = {demand * m: _short(demand * m / (1 + serial * (m - 1))) for m in multiples}
    return ElasticJob(name=name, release=0, work=_short(seconds * demand), rates=rates)


def _source(load: float, scaling: str, counts: str, alpha: float, *, at_once: bool) -> str:
    arrivals = "all jobs at once" if at_once else f"load {load:g}"
    allowed = f"counts with efficiency {alpha:g}" if counts == "alpha" else "all counts"
    return f"elastic_jobs, {scaling} scaling, {arrivals}, {allowed}"


def _short(number: float) -> float:
    """Return a number rounded to three digits, so that files are readable."""
    return float(f"{number:.3g}")
