"""Doublings: the numbers of GPUs that elastic fair queuing gives a job."""

from gsopt.scenario.job import Job


def doublings(job: Job, gpus: int) -> Job:
    """Return a job that runs on its demanded GPUs and on doublings of these only, where its menu has them.

    Source: Ares, section 3.3: the allocation is doubled from the demanded one on.

    Parameters
    ----------
    job
        The job.
    gpus
        Number of GPUs of the cluster; larger counts are left out.
    """
    allowed: list[int] = []
    count = job.gpus
    while count <= gpus:
        allowed.append(count)
        count *= 2
    menu = tuple((count, speed) for count, speed in sorted(job.menu) if count == job.gpus or count in allowed)
    return job.model_copy(update={"menu": menu})
