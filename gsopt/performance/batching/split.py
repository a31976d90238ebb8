"""Split: the cheapest allocation of GPUs to jobs, each with a cost for every number of GPUs."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import ArrayLike, NDArray

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.core.numbers.compiled import is_worth_loading

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

#: Number of GPU counts of a job that are processed together, so that their totals stay in the cache.
_BLOCK = 64

#: Numbers of GPUs are processed one by one if this multiple of them is at most the largest one.
_SPARSE = 4

#: Minimum number of additions for which a compiled kernel saves more time than it takes to load from disk.
_MANY = 500_000_000


def split(costs: ArrayLike, gpus: int, *, must: ArrayLike | None = None, use_all: bool = True) -> Counts:
    """Allocate GPUs to jobs at the minimum total cost, and return each job's number of GPUs, shape (jobs,).

    The method is min-plus dynamic programming over jobs and GPUs. Costs may be negative or nonconvex, and each
    job may allow any set of numbers of GPUs. Because the function is called often, it checks only the shapes of
    arrays. Of several optimal allocations, it prefers the one that gives the last job as few GPUs as possible,
    then the job before it, and so on. Source: the multiple-choice knapsack of ONES, Equations 3 and 4, which
    the paper solves by evolutionary search.

    Complexity: O(J n w) time and O(J n) memory for J jobs, n GPUs, and at most w GPUs per job.

    Parameters
    ----------
    costs
        Cost of each job on 0, 1, ... GPUs, with shape (jobs, most GPUs of a job + 1); infinite for numbers that
        are not allowed.
    gpus
        Number of GPUs to allocate.
    must
        Whether each job must run, with shape (jobs,); None if no job must run. `InvalidInput` is raised if the
        jobs that must run do not fit.
    use_all
        Whether to use as many GPUs as possible, even if fewer would cost less. If false, the number of GPUs
        with the minimum cost is used; the smallest one if there are several.
    """
    table_of = _checked(costs, must)
    table = least_costs(table_of, gpus)
    last = table[-1]
    reached = np.flatnonzero(last < np.inf)
    if not reached.size:
        raise InvalidInput("must", "", f"must be jobs that can all run on {gpus} GPUs")
    used = int(reached[-1] if use_all else last.argmin())
    return read_back(table, table_of, used)


def least_costs(costs: Floats, gpus: int, *, compiled: bool | None = None) -> Floats:
    """Return the minimum costs of the first 0, 1, ... jobs by total number of GPUs, shape (jobs + 1, GPUs + 1).

    The cost is infinite if the jobs cannot use exactly that number of GPUs. If `compiled` is None, the compiled
    kernel is used for large tables, if numba is installed.
    """
    table = np.full((len(costs) + 1, gpus + 1), np.inf)
    table[0, 0] = 0.0
    add_jobs(costs, table, compiled=compiled)
    return table


def add_jobs(costs: Floats, table: Floats, *, compiled: bool | None = None) -> None:
    """Fill in the rows of a table of `least_costs` below the first row, one row per job.

    The first row is given, and all others must be infinite. `costs` contains the cost of each job on 0, 1, ...
    GPUs, with shape (jobs, most GPUs of a job + 1).
    """
    widths, gpus = widest(costs), table.shape[1] - 1
    if compiled is None:
        additions = int((costs < np.inf).sum()) * (gpus + 1)
        compiled = additions >= _MANY and is_worth_loading()
    if compiled:
        from gsopt.performance.batching.kernel import fill_rows

        fill_rows(costs, widths, table)
    else:
        _fill(costs, widths, table)


def read_back(table: Floats, costs: Floats, used: int) -> Counts:
    """Return each job's number of GPUs in a minimum-cost allocation of the given total number of GPUs."""
    jobs, width = costs.shape
    chosen = np.zeros(jobs, dtype=np.int64)
    for job in range(jobs - 1, -1, -1):
        most = min(width - 1, used)
        totals = table[job, used - most : used + 1][::-1] + costs[job, : most + 1]
        chosen[job] = totals.argmin()
        used -= int(chosen[job])
    return chosen


def widest(costs: Floats) -> Counts:
    """Return the largest number of GPUs that each job may have."""
    allowed = costs < np.inf
    last = costs.shape[1] - 1 - allowed[:, ::-1].argmax(axis=1)
    widths: Counts = np.where(allowed.any(axis=1), last, 0)
    return widths


def _checked(costs: ArrayLike, must: ArrayLike | None) -> Floats:
    table: NDArray[Any] = np.array(costs, dtype=np.float64)
    if table.size == 0:
        table = table.reshape(len(table), 1) if table.shape[:1] == (0,) else table
    if table.ndim != 2 or not table.shape[1]:  # noqa: PLR2004 - jobs and GPUs
        raise InvalidInput("costs", shorten(table.shape), "must have a row for each job, of 0 GPUs upwards")
    if must is not None:
        forced = np.asarray(must, dtype=np.bool_)
        require(forced.shape == table.shape[:1], "must", forced.shape, f"must have the shape ({len(table)},)")
        table[forced, 0] = np.inf
    return table


def _fill(costs: Floats, widths: Counts, table: Floats) -> None:
    """Fill in the table like the kernel, but compute each row for many totals at once."""
    size = table.shape[1]
    pad = _BLOCK - 1
    padded = np.full(pad + size, np.inf)
    stride = padded.strides[0]
    # Row c of the window is the row of the table, shifted by c GPUs.
    window = as_strided(padded[pad:], shape=(_BLOCK, size), strides=(-stride, stride))
    totals = np.empty((_BLOCK, size))
    for job, width in enumerate(np.minimum(widths, size - 1).tolist()):
        after, allowed = table[job + 1], np.flatnonzero(costs[job, : width + 1] < np.inf)
        if allowed.size * _SPARSE <= width:
            for count in allowed.tolist():
                np.minimum(after[count:], table[job, : size - count] + costs[job, count], out=after[count:])
            continue
        padded[pad:] = table[job]
        for first in range(0, width + 1, _BLOCK):
            count, room = min(_BLOCK, width + 1 - first), size - first
            part = totals[:count, :room]
            np.add(window[:count, :room], costs[job, first : first + count, None], out=part)
            np.minimum(after[first:], part.min(axis=0), out=after[first:])
