"""Two classes: generated workloads with jobs of high and of low priority."""

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
    """Generate jobs with Poisson arrivals, each with priority 1 (urgent) or 0.

    Parameters
    ----------
    jobs, gpus, load, shape
        As in `poisson`, except that the default shape is that of the ITP trace.
    urgent
        Probability that a job has priority 1. Sizes and durations have the same distribution in both classes.
    checkpoints
        Whether jobs keep their progress when they are stopped.
    seed
        Seed of all random draws. With the same arguments, the jobs are those of `poisson`, apart from their
        priorities and checkpoints. A job that is urgent at one value of `urgent` stays urgent at all larger
        ones.

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
