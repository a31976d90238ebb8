"""Equal share: the same number of GPUs for every job, up to its cap."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import inf

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.batching import Batches, Batching
from heuristics.batching.menus import next_of, shortest_first, solution, started


@heuristic
def equal_share(problem: Batching, *, budget: Budget = UNLIMITED) -> Batches:
    """Grant each GPU to the job with the fewest GPUs among those below their caps. Ties go to the shorter job.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, after which the remaining GPUs go to the shorter jobs, or stay idle if that is allowed.

    Notes
    -----
    Source: processor sharing, the usual baseline. A job's GPUs grow from one allowed number to the next. If
    there are too few GPUs for all jobs, those that must run get GPUs first, then the others, shortest first. A
    job is shorter if it takes less time on the fewest GPUs that it may have. If GPUs that must be used are left
    over, the jobs' numbers of GPUs are changed as little as possible to use them
    (`heuristics.batching.menus.nearest`). The criterion is ignored.

    Complexity: O(J (J + G) log J) for J jobs with G gaps in their allowed numbers of GPUs, plus O(I n) for n
    GPUs and I allowed numbers if there are gaps.

    Examples
    --------
    >>> from instances.batching import elastic_jobs
    >>> result = equal_share(elastic_jobs(gpus=8, jobs=5, seed=1))
    >>> sorted(grant.gpus for grant in result.solution.running.values())
    [1, 1, 2, 2, 2]
    """
    counts, order = started(problem), shortest_first(problem)
    left = problem.gpus - sum(counts)
    queue = [(counts[place], rank) for rank, place in enumerate(order)]
    heapify(queue)
    while queue and left and not budget.passed:
        least = queue[0][0]
        lowest: list[int] = []
        while queue and queue[0][0] == least:
            lowest.append(heappop(queue)[1])
        above = queue[0][0] - least if queue else inf
        rise = min(
            above, left // len(lowest), *(_gapless(problem.counts[order[rank]], least) for rank in lowest)
        )
        for rank in lowest:
            place = order[rank]
            further = least + int(rise) if rise else next_of(problem.counts[place], least)
            if further is not None and further - least <= left:
                left -= further - least
                counts[place] = further
                heappush(queue, (further, rank))
    return solution(problem, counts, budget)


def _gapless(menu: Sequence[int], gpus: int) -> int:
    """Return how many numbers in a menu are larger than `gpus` if the menu is a range, and otherwise 0."""
    return max(menu.stop - 1 - gpus, 0) if isinstance(menu, range) and gpus in menu else 0
