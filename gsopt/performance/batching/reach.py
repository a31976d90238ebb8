"""Reach: the largest number of GPUs that jobs can use together if each allows only certain GPU counts."""

from collections.abc import Iterable, Sequence


def most_used(gpus: int, menus: Iterable[tuple[Sequence[int], bool]]) -> int:
    """Return the largest number of the available GPUs that the jobs can use together.

    Each menu lists the allowed GPU counts of a job in ascending order, and states whether the job must run. The
    result is -1 if the jobs that must run do not fit.
    """
    reached, every = 1, (1 << gpus + 1) - 1  # a bit for each possible sum
    for counts, must in menus:
        further = _shifted(reached, counts)
        reached = (further if must else reached | further) & every
    return reached.bit_length() - 1


def _shifted(reached: int, counts: Sequence[int]) -> int:
    """Return the bit set of total GPU counts that are possible with one more job."""
    if not isinstance(counts, range):
        further = 0
        for count in counts:
            further |= reached << count
        return further
    if not counts:
        return 0
    further, width = reached << counts.start, 1
    while width < len(counts):  # consecutive numbers are covered
        step = min(width, len(counts) - width)
        further |= further << step
        width += step
    return further
