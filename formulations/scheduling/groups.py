"""Groups: what jobs take up of the GPUs in groups of like size, which area alone does not tell."""

from collections.abc import Sequence

from formulations.scheduling.instance import Instance
from formulations.scheduling.mixture import Item


def groups(instance: Instance, items: Sequence[Item]) -> list[tuple[int, int]]:
    """Return the sizes of groups of GPUs that are worth a row, each with the job that takes up groups in part.

    Sizes are the powers of two and the other divisors of the number of GPUs. Where the size divides it, a job
    leaves what it takes of a group to nobody else, since all others are counted by the groups that they take up
    whole; it is so for one job at a time.
    """
    counts = [(job, instance.modes[job][mode].gpus) for job, mode in items]
    found = []
    for size in range(2, min(instance.gpus, max(gpus for _, gpus in counts)) + 1):
        divides = instance.gpus % size == 0
        if divides or size & (size - 1) == 0:
            partial_jobs = sorted({job for job, gpus in counts if divides and gpus % size})
            found += [(size, job) for job in partial_jobs or [counts[0][0]]]
    return found


def taken(gpus: int, size: int, *, whole: bool) -> int:
    """Count the groups that a job takes up, those in part included where `whole`."""
    return -(-gpus // size) if whole else gpus // size
