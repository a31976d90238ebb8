"""Static cost: the servers with the lowest preemption costs at the start."""

from gsopt.core.method import heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.preemption_cost import server_fractions
from heuristics.reclaiming.selection import Tie, cheapest_at_first


@heuristic
def static_cost(problem: Reclaiming, *, tie: Tie = "index", seed: int = 0) -> ReclaimingSolution:
    """Return the servers with the lowest preemption costs at the start.

    The cost of a server is its initial cost in `greedy`: the sum, over the jobs that run on it, of the job's
    cost divided by the number of its servers. It is not updated when other servers are returned.

    Parameters
    ----------
    problem
        The problem.
    tie
        Which of several servers of equal cost is returned, as in `greedy`.
    seed
        Seed for breaking ties at random.

    Raises
    ------
    InvalidInput
        The tie-breaking rule is unknown.

    Notes
    -----
    Source: "Static" in Aryl, Table 12. The paper does not define it. This definition is gsopt's own, and may
    differ from that of the authors.

    Complexity: O(H + S log S) for S servers and H pairs of a job and one of its servers.

    Only base workers count, as in `greedy`, even if the problem's `elasticity` is ``"fungible"``.

    Examples
    --------
    >>> import gsopt
    >>> static_cost(gsopt.load("reclaiming/aryl-figure-5")).solution.servers
    ('s1', 's2')
    """
    hosting = Hosting.of(problem)
    shares = server_fractions(hosting)
    return hosting.solution(cheapest_at_first(hosting, shares, problem.demand, tie=tie, seed=seed))
