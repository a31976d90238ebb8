"""Elastic jobs: a cluster, and jobs whose batches can grow across several GPUs."""

from random import Random
from typing import Literal

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.performance.batching import BatchingJob, Progress, StepTime
from gsopt.performance.communication import Wire
from gsopt.problems.batching import Batching
from instances.arguments import at_least, fractions
from instances.speed_up import log_uniform

#: Possible numbers of samples that fit on a GPU.
_LOCAL_LIMITS = (32, 64, 128, 256, 512)

#: Wires of 100 Gb/s between the GPUs, through a switch.
_WIRE = Wire(bandwidth=12.5e9, latency=1e-5)


def elastic_jobs(
    *,
    gpus: int = 64,
    jobs: int = 60,
    criterion: Literal["sruf", "rate", "sum_time"] = "sruf",
    forced: Literal["none", "new", "all"] = "all",
    caps: Literal["convergence", "batch", "refresh"] = "convergence",
    menu: Literal["every", "doublings"] = "every",
    doublings: int = 6,
    running: float = 0.5,
    new: float = 0.1,
    uncertain: float = 0.0,
    reconfiguration: float = 0.0,
    seed: int = 0,
) -> Batching:
    """Generate jobs whose batch limits fill 1 to ``2**doublings`` GPUs, by default 1 to 64.

    The duration of a step is the sum of a fixed time of 5 to 50 ms, 0.2 to 4 ms per sample, and the time to
    exchange 20 MB to 1.5 GB of gradients. Jobs have between 100,000 and 100 million samples left. All of these
    are drawn from log-uniform distributions, whose ranges are gsopt's own.

    Parameters
    ----------
    gpus, jobs
        Number of GPUs, and number of jobs.
    criterion, forced, caps, menu, reconfiguration
        As in `gsopt.problems.batching.Batching`.
    doublings
        Largest number of doublings from a full local batch to the batch limit of a job.
    running, new
        `new` is the probability that a job has just arrived. `running` is the probability that a job already
        runs if it has not just arrived.
    uncertain
        Probability that the remaining samples of a job are known only as a distribution. For such a job, the
        drawn number of samples is the number that it has already processed.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = elastic_jobs(gpus=8, jobs=5, seed=1)
    >>> problem.headline(), [counts[-1] for counts in problem.counts]
    ({'jobs': 5, 'gpus': 8, 'criterion': 'sruf'}, [8, 8, 1, 8, 1])
    """
    at_least(0, gpus=gpus, jobs=jobs)
    require(0 <= doublings <= 20, "doublings", doublings, "must be between 0 and 20")  # noqa: PLR2004 - a million
    fractions(running=running, new=new, uncertain=uncertain)
    random = Random(seed)
    return Batching(
        name="elastic-jobs",
        about=About(source=f"elastic_jobs, limits of up to {doublings} doublings", seed=seed),
        gpus=gpus,
        jobs=[_job(random, f"j{number}", doublings, running, new, uncertain) for number in range(1, jobs + 1)],
        criterion=criterion,
        forced=forced,
        caps=caps,
        menu=menu,
        reconfiguration=reconfiguration,
    )


def _job(
    random: Random, name: str, doublings: int, running: float, new: float, uncertain: float
) -> BatchingJob:
    local = random.choice(_LOCAL_LIMITS)
    limit = local * 2 ** random.randint(0, doublings)
    model = StepTime(
        fixed=log_uniform(random, 0.005, 0.05),
        per_sample=log_uniform(random, 0.0002, 0.004),
        message=log_uniform(random, 2e7, 1.5e9),
        wire=_WIRE,
    )
    left = float(round(10 ** random.uniform(5, 8)))
    arrived, ran, known = random.random() < new, random.random() < running, random.random() >= uncertain
    before = 2 ** random.randint(0, 3) if ran and not arrived else 0
    believed = Progress(
        alpha=round(random.uniform(1.5, 20), 1), beta=round(random.uniform(1, 20), 1), processed=left
    )
    return BatchingJob(
        name=name,
        batch_limit=limit,
        local_limit=local,
        throughput=model,
        remaining=left if known else None,
        progress=None if known else believed,
        new=arrived,
        previous_gpus=before,
        previous_batch=max(min(limit, before * local), before) if before else None,
    )
