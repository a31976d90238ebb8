"""Smallest count first (SCF): the servers that host the fewest jobs."""

from gsopt.core.method import heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.preemption_cost import job_counts
from heuristics.reclaiming.selection import Tie, cheapest_at_first, cheapest_first


@heuristic
def smallest_count_first(
    problem: Reclaiming, *, dynamic: bool = False, tie: Tie = "index", seed: int = 0
) -> ReclaimingSolution:
    """Return the servers that host the fewest jobs.

    Parameters
    ----------
    problem
        The problem.
    dynamic
        Whether to recount the jobs after each server, omitting those preempted so far, instead of once at the
        start.
    tie
        Which of several servers with equal counts is returned, as in `greedy`.
    seed
        Seed for breaking ties at random.

    Raises
    ------
    InvalidInput
        The tie-breaking rule is unknown.

    Notes
    -----
    Source: Aryl, section 7.1 ("the top-k servers that host the smallest number of jobs").

    Complexity: O(H + S log S) for S servers and H pairs of a job and one of its servers; if dynamic,
    O(H log H + S log S).

    Departures from the paper: the text does not say whether counts are updated. Both interpretations are
    available; by default, there are no updates. Ties are broken by `tie`. Every job counts as 1, regardless of
    its cost. Only base workers count, as in `greedy`, even if the problem's `elasticity` is ``"fungible"``.

    Examples
    --------
    >>> import gsopt
    >>> smallest_count_first(gsopt.load("reclaiming/aryl-figure-5")).solution.servers
    ('s1', 's2')
    """
    hosting = Hosting.of(problem)
    take = cheapest_first if dynamic else cheapest_at_first
    return hosting.solution(take(hosting, job_counts(hosting), problem.demand, tie=tie, seed=seed))
