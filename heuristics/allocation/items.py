"""Items: the GPUs and value of each job's possible numbers of extra workers, as flat arrays."""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gsopt.problems.allocation import Allocation


@dataclass(frozen=True, eq=False)
class Items:
    """All allowed numbers of extra workers that fit into the remaining GPUs, job by job.

    Attributes
    ----------
    first
        Index of each job's first item, followed by the total number of items, shape (jobs + 1,).
    job, extra, gpus
        Index of the job, number of extra workers, and total GPUs of these workers, shape (items,).
    value
        Reduction of the job's running time, or the job's own value if it gives values, shape (items,).
    """

    first: NDArray[np.int64]
    job: NDArray[np.int64]
    extra: NDArray[np.int64]
    gpus: NDArray[np.int64]
    value: NDArray[np.float64]

    @classmethod
    def of(cls, problem: Allocation) -> "Items":
        """Return the items of a problem whose queued jobs can all start."""
        jobs, left = problem.jobs, problem.remaining
        menus = [job.extras for job in jobs]
        fitting = [
            bisect_right(menu, left // job.gpus_per_worker) for job, menu in zip(jobs, menus, strict=True)
        ]
        first = np.concatenate(([0], np.cumsum(fitting))).astype(np.int64)
        number = np.repeat(np.arange(len(jobs)), fitting)
        extra = np.arange(1, number.size + 1) - first[number]
        per_job = [(job.min_workers, job.gpus_per_worker) for job in jobs]
        least, size = np.array(per_job, dtype=np.int64).reshape(-1, 2).T
        for begin, count, menu in zip(first.tolist(), fitting, menus, strict=False):
            if not isinstance(menu, range):
                extra[begin : begin + count] = menu[:count]
        time = np.array([float(job.time or 0) if job.values is None else 0.0 for job in jobs])
        value = np.repeat(time, fitting) * extra / (extra + least[number])
        for begin, count, job in zip(first.tolist(), fitting, jobs, strict=False):
            if job.values is not None:
                value[begin : begin + count] = job.values[:count]
        return cls(first, number, extra, extra * size[number], value)
