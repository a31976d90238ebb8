"""Ways: the speed of a job on each number of GPUs, in its fastest mode within given limits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.errors import Unsupported
from gsopt.scenario.job import DEFAULT_MODE, Job


class Ways(NamedTuple):
    """The fastest mode of a job on each number of GPUs, with its speed and batch size."""

    speeds: NDArray[np.float64]  # speed on 0, 1, ... GPUs; 0 where it may not run
    modes: tuple[str, ...]  # the mode of that speed; the default mode where it may not run
    batches: tuple[int, ...]  # its batch size; 0 where it has none
    # minimum number of GPUs with which the largest allowed batch size runs, because more GPUs would only make
    # local batches smaller; if batch sizes are unknown, minimum number of GPUs with which the job is fastest
    cap: int


def ways_of(job: Job, limit: int | None = None, memory: int | None = None, gpu_type: str | None = None) -> Ways:
    """Return the `Ways` of a job, within any given limits on batch size, GPU memory and GPU type.

    If even the smallest batch size exceeds `limit`, this batch size is allowed. Modes whose batch size is
    unknown are not subject to `limit`. Raise `Unsupported` if no mode suits the GPUs' memory and type.
    """
    sizes = {
        mode: size
        for mode, size in _sizes(job).items()
        if memory is None or (job.memory_in(mode) or 0) <= memory
        if gpu_type is None or job.gpu_type_in(mode) in ("", gpu_type)
    }
    if not sizes:
        kind = (f" of type {gpu_type}" if gpu_type else "") + (f" with {memory:,} bytes" if memory else "")
        raise Unsupported(f"job {job.name!r} has no mode for GPUs{kind}")
    known = [size for size in sizes.values() if size is not None]
    most = None if limit is None or not known else max(limit, min(known))
    allowed = {mode: size for mode, size in sizes.items() if most is None or size is None or size <= most}
    best: dict[int, tuple[float, str]] = {}
    for mode in allowed:
        for count, speed in job.speeds[mode].items():
            if count not in best or speed > best[count][0]:
                best[count] = (speed, mode)
    width = max(best) + 1
    chosen = [best.get(count, (0.0, DEFAULT_MODE)) for count in range(width)]
    return Ways(
        speeds=np.array([speed for speed, _ in chosen]),
        modes=tuple(mode for _, mode in chosen),
        batches=tuple(allowed[mode] or 0 if speed else 0 for speed, mode in chosen),
        cap=_cap(job, allowed, best),
    )


def local_limit(job: Job) -> int | None:
    """Return the largest batch size with which a job runs on a single GPU, or None if none is known."""
    fitting = [size for mode, size in _sizes(job).items() if size is not None and 1 in job.speeds[mode]]
    return max(fitting, default=None)


def largest_batch(job: Job) -> int | None:
    """Return the largest known batch size of a job, or None if none is known."""
    return max((size for size in _sizes(job).values() if size is not None), default=None)


def _sizes(job: Job) -> dict[str, int | None]:
    """Return the batch size of every mode (None if unknown), keyed by mode."""
    own = {mode.name: job.batch_size if mode.batch_size is None else mode.batch_size for mode in job.modes}
    return {DEFAULT_MODE: job.batch_size, **own}


def _cap(job: Job, allowed: dict[str, int | None], best: dict[int, tuple[float, str]]) -> int:
    sized = {mode: size for mode, size in allowed.items() if size is not None}
    if not sized:
        fastest = max(speed for speed, _ in best.values())
        return min(count for count, (speed, _) in best.items() if speed == fastest)
    largest = max(sized.values())
    return min(min(job.speeds[mode]) for mode, size in sized.items() if size == largest)
