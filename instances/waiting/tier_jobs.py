"""Tier jobs: random rigid jobs that train models of Dally's Table I, released together or at random times."""

from collections.abc import Sequence
from itertools import accumulate
from math import isfinite
from random import Random
from typing import Literal, get_args

from gsopt.core.errors import require, require_one_of
from gsopt.core.problem import About
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.speed import TIER_PENALTIES, TierPenalty
from instances.arguments import at_least

Arrivals = Literal["batch", "poisson"]
Minimize = Literal["mean_jct", "makespan"]

#: Shortest and longest run time without communication, in whole seconds.
_SHORTEST, _LONGEST = 3, 15

#: Largest number of GPUs of a job: by default, those of two machines.
_MOST_GPUS = 8

#: GPU demands that divide each other, for `powers_of_two`.
_POWERS = (1, 2, 4, 8)


def tier_jobs(
    *,
    jobs: int = 8,
    racks: int = 2,
    machines: int = 2,
    gpus: int = 4,
    arrivals: Arrivals = "batch",
    gap: float = 4.0,
    most: float = 30.0,
    powers_of_two: bool = False,
    minimize: Minimize = "mean_jct",
    seed: int = 0,
) -> Waiting:
    """Generate rigid jobs on a small cluster of racks, with times in whole seconds.

    A job demands 1 to 8 GPUs, at most as many as there are. It takes 3 to 15 seconds without communication,
    and trains one of the six models in Dally's Table I. All values are equally likely. Run times with
    communication are rounded up to whole seconds.

    Parameters
    ----------
    jobs
        Number of jobs.
    racks, machines, gpus
        Number of racks, of machines per rack, and of GPUs per machine.
    arrivals
        ``"batch"``: all jobs are released at time 0. ``"poisson"``: the first job arrives at time 0, and the
        gaps between arrivals are exponential. Release dates are rounded to whole seconds.
    gap
        Mean gap in seconds of Poisson arrivals.
    most
        Largest factor by which communication may prolong a run time. Penalties in Table I that would prolong it
        more are reduced.
    powers_of_two
        Whether all demands are powers of two: 1, 2, 4 or 8 GPUs.
    minimize
        The objective, as in `gsopt.problems.waiting.Waiting`.
    seed
        Seed of all random draws. Apart from the release dates, the jobs are the same for both kinds of
        arrivals.

    Examples
    --------
    >>> problem = tier_jobs(jobs=3, arrivals="poisson", seed=1)
    >>> [(job.release_date, job.duration, job.gpus, job.model) for job in problem.jobs]
    [(0.0, 5.0, 2, 'mobilenetv3'), (0.0, 4.0, 8, 'resnet18'), (1.0, 10.0, 7, 'bert-large')]
    """
    at_least(1, jobs=jobs, racks=racks, machines=machines, gpus=gpus)
    require_one_of("arrivals", arrivals, get_args(Arrivals))
    require_one_of("minimize", minimize, get_args(Minimize))
    require(isfinite(gap) and gap >= 0, "gap", gap, "must be at least 0 and finite")
    require(isfinite(most) and most >= 1, "most", most, "must be at least 1 and finite")
    cluster = Cluster.uniform(racks=racks, machines=machines, gpus=gpus)
    random = Random(seed)
    largest = min(_MOST_GPUS, cluster.gpus)
    demands = [count for count in _POWERS if count <= largest] if powers_of_two else range(1, largest + 1)
    drawn = [_job(random, f"j{number}", demands) for number in range(1, jobs + 1)]
    gaps = [random.expovariate(1.0) * gap for _ in drawn[1:]] if arrivals == "poisson" else [0.0] * (jobs - 1)
    releases = [float(round(time)) for time in accumulate(gaps, initial=0.0)]
    return Waiting(
        name="tier-jobs",
        about=About(source=f"tier_jobs, {arrivals}, tiers up to {most:g} times as long", seed=seed),
        cluster=cluster,
        jobs=[
            job.model_copy(update={"release_date": release})
            for job, release in zip(drawn, releases, strict=True)
        ],
        penalties=cut_off(most),
        minimize=minimize,
        slot=1.0,
    )


def cut_off(most: float) -> dict[str, TierPenalty]:
    """Return the penalties of Dally's Table I, each reduced to at most ``most - 1``.

    Runs then take at most `most` times as long as without communication.
    """
    return {
        model: TierPenalty(**{tier: min(value, most - 1) for tier, value in penalty.named.items()})
        for model, penalty in TIER_PENALTIES.items()
    }


def _job(random: Random, name: str, demands: Sequence[int]) -> Job:
    seconds = float(random.randint(_SHORTEST, _LONGEST))
    gpus = random.choice(demands)
    return Job(
        name=name, release_date=0.0, duration=seconds, gpus=gpus, model=random.choice(sorted(TIER_PENALTIES))
    )
