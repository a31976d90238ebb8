"""Batch: workloads whose jobs are all released at time 0."""

from random import Random

from gsopt.scenario.job import Job, Workload
from instances.arguments import at_least
from instances.workloads.distributions import PHILLY, JobDistribution


def batch(*, jobs: int = 100, gpus: int = 64, shape: JobDistribution = PHILLY, seed: int = 0) -> Workload:
    """Generate jobs that are all released at time 0, with demands and durations like those of a trace.

    Parameters
    ----------
    jobs, gpus
        Number of jobs, and number of GPUs of the cluster. No job demands more GPUs.
    shape
        Distribution from which GPU demands and durations are drawn.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> workload = batch(jobs=500, gpus=16)
    >>> len(workload.jobs), max(job.gpus for job in workload.jobs), workload.jobs[-1].release_date
    (500, 16, 0.0)
    """
    at_least(1, jobs=jobs)
    drawn = shape.draw(jobs, gpus, Random(seed))
    return Workload(
        name=f"batch-{jobs}",
        source=f"{jobs} jobs in a batch, shaped like: {shape.source}; seed {seed}",
        jobs=tuple(
            Job(name=f"j{number}", release_date=0, duration=duration, gpus=demand)
            for number, (demand, duration) in enumerate(drawn, start=1)
        ),
    )
