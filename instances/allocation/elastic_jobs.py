"""Elastic jobs: random jobs like those of a training cluster that has too few GPUs to scale them all."""

from random import Random
from typing import Any, Literal, get_args

from gsopt.core.errors import require_one_of
from gsopt.core.problem import About
from gsopt.problems.allocation import Allocation, ElasticJob
from instances.allocation.scaling import across_servers, imperfect, values
from instances.arguments import at_least, fractions

Sizes = Literal["one", "powers_of_two", "any"]
Scaling = Literal["proportional", "imperfect", "across_servers"]

#: Percentage of jobs by number of GPUs per worker, for each choice of sizes.
_SIZES: dict[str, dict[int, int]] = {
    "one": {1: 100},
    "powers_of_two": {1: 40, 2: 25, 4: 20, 8: 15},
    "any": {1: 20, 2: 15, 3: 15, 4: 10, 5: 10, 6: 10, 7: 10, 8: 10},
}

#: Running times are log-normal: median 50 minutes, from a minute to ten days.
_MEDIAN, _SPREAD, _SHORTEST, _LONGEST = 3_000, 1.5, 60, 864_000

#: Limits of the fraction by which each server beyond the first prolongs a job.
_LEAST_TOLL, _MOST_TOLL = 0.05, 0.6


def elastic_jobs(
    *,
    jobs: int = 200,
    capacity: int = 1_000,
    most_workers: int = 8,
    most_extra: int = 17,
    sizes: Sizes = "powers_of_two",
    scaling: Scaling = "proportional",
    queued_share: float = 0.0,
    seed: int = 0,
) -> Allocation:
    """Generate elastic jobs that compete for the GPUs that remain for extra workers.

    Parameters
    ----------
    jobs
        Number of jobs.
    capacity
        Number of GPUs that remain for extra workers. The GPUs that queued jobs need for their minimum workers
        are added to this number.
    most_workers
        Upper limit of the minimum number of workers, which is drawn from 1 to this limit.
    most_extra
        Upper limit of the number of extra workers that a job can use, which is drawn from 1 to this limit.
    sizes
        GPUs per worker. ``one``: 1. ``powers_of_two``: 1, 2, 4 or 8. ``any``: 1 to 8.
    scaling
        ``proportional``: the speed is proportional to the number of workers. ``imperfect``: this speed is
        reduced by 10 % for each worker beyond the mean (rounded up) of the job's minimum and maximum number of
        workers, but by at most 90 %. ``across_servers``: every additional server costs part of the speed, so
        that the values may be neither concave nor monotone.
    queued_share
        Probability that a job is still waiting.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = elastic_jobs(jobs=50, capacity=256, seed=1)
    >>> len(problem.jobs), problem.remaining, {job.gpus_per_worker for job in problem.jobs}
    (50, 256, {8, 1, 2, 4})
    """
    at_least(0, jobs=jobs, capacity=capacity)
    at_least(1, most_workers=most_workers, most_extra=most_extra)
    fractions(queued_share=queued_share)
    require_one_of("sizes", sizes, get_args(Sizes))
    require_one_of("scaling", scaling, get_args(Scaling))
    random = Random(seed)
    drawn: list[ElasticJob] = []
    for number in range(1, jobs + 1):
        least = random.randint(1, most_workers)
        most = least + random.randint(1, most_extra)
        gpus = random.choices(*zip(*_SIZES[sizes].items(), strict=True))[0]
        time = round(min(max(_MEDIAN * random.lognormvariate(0, _SPREAD), _SHORTEST), _LONGEST))
        toll = random.uniform(_LEAST_TOLL, _MOST_TOLL)
        queued = random.random() < queued_share
        drawn.append(
            ElasticJob(
                name=f"j{number}",
                min_workers=least,
                max_workers=most,
                gpus_per_worker=gpus,
                queued=queued,
                **_worth(scaling, time, least, most, gpus, toll, queued),
            )
        )
    base = sum(job.base_gpus for job in drawn if job.queued)
    return Allocation(
        name="elastic-jobs",
        about=About(source=f"elastic_jobs, {scaling} scaling", seed=seed),
        capacity=capacity + base,
        jobs=tuple(drawn),
    )


def _worth(
    scaling: Scaling, time: int, least: int, most: int, gpus: int, toll: float, queued: bool
) -> dict[str, Any]:
    """Return the fields with the value of extra workers and, if the job is queued, its running time."""
    if scaling == "proportional":
        return {"time_at_min": time}
    speed = imperfect(least, most) if scaling == "imperfect" else across_servers(gpus, toll)
    return {"values": values(time, least, most, speed)} | ({"time_at_min": time} if queued else {})
