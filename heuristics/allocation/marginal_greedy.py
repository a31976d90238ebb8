"""Marginal greedy: extra workers granted step by step to the job that gains the most per GPU."""

from heapq import heapify, heappop, heappush

import numpy as np

from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.allocation import Allocation, AllocationSolution
from heuristics.allocation.items import Items


@heuristic
def marginal_greedy(problem: Allocation) -> AllocationSolution | NoSolution:
    """Grant each step to the job that saves the most time per GPU.

    A step leads to the next allowed number of workers, which is one more if a job allows every number. A job
    gets no more steps once its next one does not fit, saves nothing, or exceeds its maximum. Ties go to the job
    that comes first in the instance.

    Notes
    -----
    Source: the allocation rule of Optimus (largest marginal gain) and of AFS (largest improvement), both as
    described in Aryl, Appendix F.

    Complexity: O(I + (J + P) log J) for J jobs, P granted steps, and I allowed numbers of extra workers in all.

    The result is optimal if all steps need equally many GPUs and no step of a job saves more than the one
    before it. If steps need different numbers of GPUs, the rule may leave GPUs idle that a better choice would
    use. It also misses gains that only appear after a step that saves nothing.

    Departures from the papers: AFS and Optimus build whole allocations from predicted throughput. Here only the
    remaining GPUs are granted, within each job's range, to the jobs for which they save the most time.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=3, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> marginal_greedy(Allocation(capacity=3, jobs=[a, b])).solution.extra
    {'B': 3}
    """
    if problem.obstacle:
        return NoSolution(problem.obstacle, proven=True)
    left, items = problem.remaining, Items.of(problem)
    loss, gpus = _steps(items)
    ends = items.first[1:].tolist()
    coming = items.first[:-1].tolist()
    steps = [(loss[step], j) for j, step in enumerate(coming) if step < ends[j]]
    heapify(steps)
    while steps:
        lost, j = heappop(steps)
        step = coming[j]
        if lost >= 0 or gpus[step] > left:
            continue
        left -= gpus[step]
        coming[j] = step + 1
        if step + 1 < ends[j]:
            heappush(steps, (loss[step + 1], j))
    given = zip(problem.jobs, items.first.tolist(), coming, strict=False)
    return AllocationSolution(extra={job.name: int(items.extra[n - 1]) for job, begin, n in given if n > begin})


def _steps(items: Items) -> tuple[list[float], list[int]]:
    """Return the negated gain per GPU and the additional GPUs of the step to each item from the one before."""
    begins = items.first[:-1][np.diff(items.first) > 0]
    gpus, value = np.diff(items.gpus, prepend=0), np.diff(items.value, prepend=0.0)
    gpus[begins], value[begins] = items.gpus[begins], items.value[begins]
    return (-value / gpus).tolist(), gpus.tolist()
