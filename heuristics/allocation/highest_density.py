"""Highest density: extra workers granted in descending order of value per GPU."""

import numpy as np

from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.allocation import Allocation, AllocationSolution
from heuristics.allocation.items import Items


@heuristic
def highest_density(problem: Allocation) -> AllocationSolution | NoSolution:
    """Take items in descending order of value per GPU.

    An item is an allowed number of extra workers for one job. An item that is taken replaces the job's earlier
    item, if any. It is taken if enough GPUs remain, and if it is worth more than the earlier item or, without
    one, more than 0. Ties go to the smaller number, then to the first job.

    Notes
    -----
    Source: the classical greedy algorithm for knapsacks, which sorts by value per weight, applied to the items
    of Aryl's Algorithm 2.

    Complexity: O(I log I) for I items.

    The order uses averages, not marginal gains. A job whose first extra worker is valuable may therefore also
    get further workers of little use. On the other hand, the rule finds gains that only appear after an extra
    worker that saves nothing.

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
    left, items = problem.remaining, Items.of(problem)
    order = np.lexsort((items.job, items.extra, -items.value / items.gpus))
    order = order[items.value[order] > 0]
    extra, gpus, worth = ([0] * len(problem.jobs) for _ in range(3))
    columns = (items.job, items.extra, items.gpus, items.value)
    for j, w, needed, value in zip(*(column[order].tolist() for column in columns), strict=True):
        if needed - gpus[j] <= left and value > worth[j]:
            left -= needed - gpus[j]
            extra[j], gpus[j], worth[j] = w, needed, value
    return AllocationSolution(extra={job.name: w for job, w in zip(problem.jobs, extra, strict=True) if w})
