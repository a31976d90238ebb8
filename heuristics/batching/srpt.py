"""SRPT: shortest remaining processing time first, each job on as many GPUs as it may have."""

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.batching import Batches, Batching
from heuristics.batching.menus import most_of, solution, started, time_on


@heuristic
def srpt(problem: Batching, *, budget: Budget = UNLIMITED) -> Batches:
    """Grant jobs their caps in ascending order of remaining time, as long as GPUs remain.

    A job's cap is the largest number of GPUs that it may have, and its remaining time is the time on these
    GPUs. Jobs that must run get the fewest GPUs that they may have, before all others. If GPUs that must be
    used are left over, the jobs' numbers of GPUs are changed as little as possible to use them
    (`heuristics.batching.menus.nearest`).

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit for finding GPU counts that add up to all GPUs, if allowed numbers have gaps.

    Notes
    -----
    Source: shortest remaining processing time first, the starting point of ONES (section 3.2.1), with caps from
    the batch limits.

    Complexity: O(J log J) for J jobs that have I allowed numbers of GPUs in total, plus O(I n) for n GPUs if
    these numbers have gaps.

    Examples
    --------
    >>> from instances.batching import elastic_jobs
    >>> result = srpt(elastic_jobs(gpus=8, jobs=5, seed=1))
    >>> sorted(grant.gpus for grant in result.solution.running.values())
    [1, 1, 1, 1, 4]
    """
    counts = started(problem)
    left = problem.gpus - sum(counts)
    able = [place for place, menu in enumerate(problem.counts) if menu]
    for place in sorted(able, key=lambda place: time_on(problem, place, problem.counts[place][-1])):
        widest = max(most_of(problem.counts[place], counts[place] + left), counts[place])
        left -= widest - counts[place]
        counts[place] = widest
    return solution(problem, counts, budget)
