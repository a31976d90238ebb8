"""Groups: the GPUs that jobs take up in groups of equal size, which gives a tighter limit than the total."""

from collections.abc import Sequence

from formulations.scheduling.instance import Instance
from formulations.scheduling.mixture import Item


def groups(instance: Instance, items: Sequence[Item]) -> list[tuple[int, int]]:
    """Return the sizes of groups for which a row helps, each with the job whose partial groups count.

    Sizes are powers of two and the divisors of the number of GPUs. All jobs but one are counted by the groups
    that they take up whole. If the size divides the number of GPUs, a single job may also be counted with its
    partial groups, as no other job takes a whole group from them.
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
