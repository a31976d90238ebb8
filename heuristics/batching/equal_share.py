"""Equal share: every job has as many GPUs as any other, up to its cap."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import inf

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.batching import Batches, Batching
from heuristics.batching.menus import next_of, shortest_first, solution, started


@heuristic
def equal_share(problem: Batching, *, budget: Budget = UNLIMITED) -> Batches:
    """Return the next GPU to the job that has fewest, as long as its cap allows it; the shorter of equal ones.

    Parameters
    ----------
    problem
        The problem.
    budget
        When to stop; what is left then goes to the shorter jobs.

    Notes
    -----
    Source: processor sharing, the usual baseline; where there are more jobs than GPUs the shortest ones run.
    What the criterion counts is not looked at.

    Complexity: O(J (J + G) log J) for J jobs with G gaps in their menus: those with the fewest rise together.

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
    while race and left and not budget.passed:
        fewest = race[0][0]
        lowest: list[int] = []
        while race and race[0][0] == fewest:
            lowest.append(heappop(race)[1])
        above = race[0][0] - fewest if race else inf
        rise = min(above, left // len(lowest), *(_run(problem.counts[order[rank]], fewest) for rank in lowest))
        for rank in lowest:
            place = order[rank]
            further = fewest + int(rise) if rise else next_of(problem.counts[place], fewest)
            if further is not None and further - fewest <= left:
                left -= further - fewest
                counts[place] = further
                heappush(race, (further, rank))
    return solution(problem, counts, budget)


def _run(menu: Sequence[int], gpus: int) -> int:
    """Count the numbers that follow one in a menu without a gap, as far as that is seen at once."""
    return max(menu.stop - 1 - gpus, 0) if isinstance(menu, range) and gpus in menu else 0
