"""Highest density: whole allocations in the order of their value per GPU."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from gsopt.method import NoSolution, heuristic
from gsopt.problems.allocation import Allocation, AllocationSolution
from heuristics.allocation.value_table import value_table


@heuristic
def highest_density(problem: Allocation) -> AllocationSolution | NoSolution:
    """Take items in the order of their value per GPU; a later, larger item of a job replaces the one it has.

    An item is an allowed number of extra workers of one job. It is taken when it is worth more than what the
    job has and the GPUs that it needs beyond that are left. Of equal ones the smaller number comes first, then
    the first job.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Source: the classical greedy for knapsacks, by value per weight, applied to the items of Aryl's Algorithm 2.

    Complexity: O(I log I) for I items.

    The order looks at averages, not at what the next worker adds: a job with a great first worker goes on to
    get workers of little use. On the other hand it can see a gain behind a worker that saves nothing.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=4, values=[0, 50])
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> highest_density(Allocation(capacity=3, jobs=[a, b])).solution.extra
    {'A': 2, 'B': 1}
    """
    if problem.obstacle:
        return NoSolution(problem.obstacle, proven=True)
    left = problem.remaining
    tables = [value_table(job, left) for job in problem.jobs]
    sizes = [job.gpus_per_worker for job in problem.jobs]
    extra, worth = [0] * len(tables), [0.0] * len(tables)
    for j, w, value in _by_density(tables, sizes):
        needed = (w - extra[j]) * sizes[j]
        if needed <= left and value > worth[j]:
            left -= needed
            extra[j], worth[j] = w, value
    return AllocationSolution(extra={job.name: w for job, w in zip(problem.jobs, extra, strict=True) if w})


def _by_density(
    tables: Sequence[tuple[Sequence[int], Sequence[float]]], sizes: Sequence[int]
) -> Iterator[tuple[int, int, float]]:
    """List job, extra workers and value of every item that saves time, the most per GPU first."""
    job = np.repeat(np.arange(len(tables)), [len(extras) for extras, _ in tables])
    extra = np.fromiter(chain.from_iterable(extras for extras, _ in tables), np.int64)
    value = np.fromiter(chain.from_iterable(values for _, values in tables), np.float64)
    density = value / (extra * np.array(sizes, dtype=np.int64)[job])
    order = np.lexsort((job, extra, -density))
    order = order[value[order] > 0]
    return zip(job[order].tolist(), extra[order].tolist(), value[order].tolist(), strict=True)
