"""Equal share: every job has as many GPUs as any other, up to its cap."""

from heapq import heapify, heappop, heappush

from gsopt.method import heuristic
from gsopt.problems.batching import Batches, Batching
from heuristics.batching.menus import shortest_first, solution, started


@heuristic
def equal_share(problem: Batching) -> Batches:
    """Give the next GPU to the job that has fewest, as long as its cap allows it; the shorter of equal ones.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Source: processor sharing, the usual baseline; where there are more jobs than GPUs the shortest ones run.
    What the criterion counts is not looked at.

    Complexity: O(n log J) for n GPUs and J jobs.

    Examples
    --------
    >>> from instances.batching import elastic_jobs
    >>> result = equal_share(elastic_jobs(gpus=8, jobs=5, seed=1))
    >>> sorted(grant.gpus for grant in result.solution.running.values())
    [1, 1, 2, 2, 2]
    """
    counts, order = started(problem), shortest_first(problem)
    left = problem.gpus - sum(counts)
    race = [(counts[place], rank) for rank, place in enumerate(order)]
    heapify(race)
    while race and left:
        gpus, rank = heappop(race)
        place = order[rank]
        further = next((count for count in problem.counts[place] if count > gpus), None)
        if further is not None and further - gpus <= left:
            left -= further - gpus
            counts[place] = further
            heappush(race, (further, rank))
    return solution(problem, counts)
