"""SRPT: the shortest remaining processing time first, each job as wide as it may be."""

from gsopt.method import heuristic
from gsopt.problems.batching import Batches, Batching
from heuristics.batching.menus import solution, started, time_on


@heuristic
def srpt(problem: Batching) -> Batches:
    """Give the job with the shortest remaining time its cap, then the next, as long as there are GPUs.

    The time is that on as many GPUs as a job may have. Jobs that must run have their fewest GPUs before.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Source: shortest remaining processing time first, the rule from which ONES sets out (section 3.2.1), with
    the caps of batch limits. Equation 3 without a forced set comes close to it.

    Complexity: O(J log J) for J jobs.

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
        room = counts[place] + left
        widest = max((count for count in problem.counts[place] if count <= room), default=0)
        left -= max(widest - counts[place], 0)
        counts[place] = max(widest, counts[place])
    return solution(problem, counts)
