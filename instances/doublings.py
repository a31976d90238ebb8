"""Doublings: the GPU counts that elastic fair queuing may assign to jobs, and halved demands."""

from gsopt.core.errors import require
from gsopt.scenario.job import Job


def check_halvings(halvings: int | None) -> None:
    """Raise `InvalidInput` unless the number of halvings is valid.

    Valid numbers are None, which leaves demands unchanged, and integers that are at least 0.
    """
    counts = halvings is None or (isinstance(halvings, int) and halvings >= 0)
    require(counts, "halvings", halvings, "must be a whole number, at least 0, or None")


def halved(gpus: int, halvings: int) -> int:
    """Round a demand down to a power of two, halve it `halvings` times, and return the result, at least 1."""
    return max(1, 1 << (gpus.bit_length() - 1) >> halvings)


def doublings(job: Job, gpus: int) -> Job:
    """Limit the menu of a job to its demand and to those doublings of its demand that fit on the cluster.

    Source: Ares, section 3.3, where allocations start at the demand and are doubled.
    """
    allowed: list[int] = []
    count = job.gpus
    while count <= gpus:
        allowed.append(count)
        count *= 2
    menu = tuple((count, speed) for count, speed in sorted(job.menu) if count == job.gpus or count in allowed)
    return job.model_copy(update={"menu": menu})
