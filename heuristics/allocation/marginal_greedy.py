"""Greedy by marginal value per GPU: one worker at a time to the job that gains most from it."""

from heapq import heapify, heappop, heappush

from gsopt.method import NoSolution, heuristic
from gsopt.problems.allocation import Allocation, AllocationSolution
from heuristics.allocation.value_table import value_table


@heuristic
def marginal_greedy(problem: Allocation) -> AllocationSolution | NoSolution:
    """Give one worker after the other to the job whose next worker saves most time per GPU.

    A job leaves the race when its next worker does not fit any more, saves nothing, or is above its maximum. Of
    equal ones the job that comes first in the instance gets the worker.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Source: the rule by which Optimus allocates, the largest marginal gain; AFS likewise takes the largest
    improvement. Both as described in Aryl, Appendix F.

    Complexity: O(I + P log J) for J jobs, I items and P workers given.

    Optimal when all workers have the same size and no extra worker of a job saves more than the one before
    it. With different sizes it can leave GPUs idle that a better choice would use; with other value tables it
    cannot see a gain behind a worker that saves nothing.

    Departures from the papers: AFS and Optimus set up whole allocations from nothing, from predicted
    throughput; here they share the remaining GPUs, by the time saved, in the range of each job.

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
    left = problem.remaining
    tables = [value_table(job, left) for job in problem.jobs]
    sizes = [job.gpus_per_worker for job in problem.jobs]
    extra = [0] * len(tables)
    race = [((table[0] - table[1]) / sizes[j], j) for j, table in enumerate(tables) if len(table) > 1]
    heapify(race)
    while race:
        negative_gain, j = heappop(race)
        if negative_gain >= 0 or sizes[j] > left:
            continue
        left -= sizes[j]
        extra[j] += 1
        table, held = tables[j], extra[j]
        if held + 1 < len(table):
            heappush(race, ((table[held] - table[held + 1]) / sizes[j], j))
    return AllocationSolution(extra={job.name: w for job, w in zip(problem.jobs, extra, strict=True) if w})
