"""Two classes: jobs of high priority among others of low priority."""

from random import Random

from gsopt.scenario.job import Workload
from instances.arguments import fractions
from instances.workloads.distributions import ITP, JobDistribution
from instances.workloads.poisson import poisson


def two_classes(
    *,
    jobs: int = 100,
    gpus: int = 64,
    load: float = 0.9,
    urgent: float = 0.2,
    checkpoints: bool = False,
    shape: JobDistribution = ITP,
    seed: int = 0,
) -> Workload:
    """Generate jobs with Poisson arrivals, some of which have priority 1 and the others priority 0.

    Parameters
    ----------
    jobs, gpus, load, shape
        As in `poisson`.
    urgent
        Probability that a job has priority 1. Sizes and durations of both classes are distributed alike.
    checkpoints
        Whether jobs keep their progress when they stop.
    seed
        Seed of all random draws. The jobs are those of `poisson`, and every share of urgent jobs contains the
        jobs of all smaller shares.

    Examples
    --------
    >>> workload = two_classes(jobs=50, urgent=0.2, seed=1)
    >>> sum(job.priority for job in workload.jobs), workload.jobs[0].checkpoints
    (14, False)
    """
    fractions(urgent=urgent)
    base = poisson(jobs=jobs, gpus=gpus, load=load, shape=shape, seed=seed)
    random = Random(f"{seed} classes")
    given = tuple(
        job.model_copy(update={"priority": int(random.random() < urgent), "checkpoints": checkpoints})
        for job in base.jobs
    )
    source = f"{base.source}; priority 1 with probability {urgent:g}"
    return base.model_copy(update={"name": f"two-classes-{jobs}", "source": source, "jobs": given})
