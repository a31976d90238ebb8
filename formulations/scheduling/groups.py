"""Groups: capacity limits on groups of GPUs of equal size, which do not follow from the limit on all GPUs."""

from collections.abc import Sequence

from formulations.scheduling.instance import Instance
from formulations.scheduling.mixture import Item


def groups(instance: Instance, items: Sequence[Item]) -> list[tuple[int, int]]:
    """Return the capacity rows on groups that may help, as pairs of a group size and a job.

    A row limits how many groups of GPUs of one size all jobs together take up. Sizes are powers of two and the
    divisors of the number of GPUs. A row counts the groups that each job takes up completely. If the size
    divides the number of GPUs, the row may also count a group that one job takes up in part, because no other
    job can take it up completely. If no partial group counts, the job is arbitrary.
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
    """Return the number of groups of GPUs that a job takes up, rounded up if `whole` and otherwise down."""
    return -(-gpus // size) if whole else gpus // size
