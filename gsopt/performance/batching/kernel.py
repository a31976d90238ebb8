"""Kernel: the allocation of GPUs by dynamic programming, compiled if numba is installed."""

from typing import Any

import numpy as np

from gsopt.core.numbers.compiled import compiled

Array = np.ndarray[Any, Any]


@compiled
def fill_rows(costs: Array, widths: Array, table: Array) -> None:
    """Fill in the rows of a table of minimum costs below its first row, which is given.

    `costs` contains the cost of each job on 0, 1, ... GPUs, with shape (jobs, most GPUs of a job + 1). The cost
    is infinite for numbers of GPUs that are not allowed. `widths` contains the largest number of GPUs of each
    job, with shape (jobs,). `table` has shape (jobs + 1, GPUs + 1). Its first row contains the minimum cost of
    any earlier jobs on 0, 1, ... GPUs in total. Each further row includes one more job.
    """
    size = table.shape[1]
    reached = 0
    for used in range(size):
        if table[0, used] < np.inf:
            reached = used
    for job in range(costs.shape[0]):
        before, after = table[job], table[job + 1]
        wait = costs[job, 0]
        for used in range(size):
            after[used] = before[used] + wait
        reached = min(reached, size - 1)
        for gpus in range(1, min(widths[job], size - 1) + 1):
            cost = costs[job, gpus]
            if cost == np.inf:
                continue
            for used in range(min(reached + 1, size - gpus)):
                total = before[used] + cost
                after[used + gpus] = min(after[used + gpus], total)
        reached += widths[job]
