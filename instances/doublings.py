"""Doublings: the GPU counts that elastic fair queuing assigns, and halved demands."""

from gsopt.core.errors import require
from gsopt.scenario.job import Job


def check_halvings(halvings: int | None) -> None:
    """Raise `InvalidInput` unless the number of halvings is valid.

    None, for unchanged demands, is valid.
    """
    counts = halvings is None or (isinstance(halvings, int) and halvings >= 0)
    require(counts, "halvings", halvings, "must be a whole number, at least 0, or None")


def halved(gpus: int, halvings: int) -> int:
    """Return the largest power of two that is at most a demand, halved `halvings` times but at least 1."""
    return max(1, 1 << (gpus.bit_length() - 1) >> halvings)


def doublings(job: Job, gpus: int) -> Job:
    """Return a job with a menu limited to doublings of its demand that the cluster allows.

    Source: Ares, section 3.3, which doubles allocations, beginning with the demand.
    """
    allowed: list[int] = []
    count = job.gpus
    while count <= gpus:
        allowed.append(count)
        count *= 2
    menu = tuple((count, speed) for count, speed in sorted(job.menu) if count == job.gpus or count in allowed)
    return job.model_copy(update={"menu": menu})
