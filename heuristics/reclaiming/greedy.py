"""Aryl's Algorithm 1: take the server of lowest preemption cost, update the costs, repeat."""

from typing import Literal

from gsopt.core.errors import InvalidInput
from gsopt.core.method import heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.options import choose
from heuristics.reclaiming.preemption_cost import (
    JobShares,
    gpu_fractions,
    number_of_jobs,
    server_fractions,
)
from heuristics.reclaiming.selection import Tie, cheapest_first


@heuristic
def greedy(
    problem: Reclaiming,
    *,
    tie: Tie = "index",
    seed: int = 0,
    cost: Literal["server_fraction", "gpu_fraction"] = "server_fraction",
    denominator: Literal["on_loan", "all"] = "on_loan",
    single: Literal["fewest_jobs", "fractions"] = "fewest_jobs",
) -> ReclaimingSolution:
    """Return servers one by one, each time the one of lowest preemption cost, and update the costs in between.

    The preemption cost of a server is the sum over its running jobs of 1 / (number of servers of the job).
    Returning a server preempts its jobs, which makes their other servers cheaper.

    Parameters
    ----------
    problem
        The problem.
    tie
        Which of several cheapest servers is taken: the first of the instance (``index``), a random one, or the
        one that hosts the fewest or the most running jobs (then the first).
    seed
        Seed of the random ties.
    cost
        ``server_fraction`` as in the algorithm, or ``gpu_fraction``, the definition that section 4 rejects: the
        sum over the jobs of the fraction of their GPUs on the server.
    denominator
        Which servers of a job count in its fraction: those on loan, or all, its training servers too.
    single
        What decides when the demand is one server: the fewest preempted jobs as printed (``fewest_jobs``), or
        the fractions as for every other demand.

    Raises
    ------
    InvalidInput
        An option has a value it cannot have, or all servers are to count in GPU fractions: how many GPUs a job
        uses on training servers is not part of the problem.

    Notes
    -----
    Source: Aryl, section 4 and Appendix B, Algorithm 1.

    Complexity: O(S log S + H log H) for S servers and H pairs of a job and a server that hosts it.

    Readings of what the paper leaves open:

    - Ties of the queue (line 24) are broken by `tie`. They matter: in the example of Figure 5 the algorithm
      preempts one job or two, depending on ties alone.
    - "s not in s'" (line 12) is read as "s other than s'".
    - A preempted job takes away the whole of what it once added (line 14): its number of servers is that of the
      start, and no job is subtracted twice.
    - The queue is updated in place (the value returned in line 28 is not used).
    - FindBestServer (line 19) picks the server whose jobs cost least. A demand of one and a demand of two
      servers are therefore decided by different rules.
    - A server without jobs costs nothing and is returned first. A demand of 0 returns nothing.

    Departures from the paper:

    - Fractions are integers scaled by their common denominator, so ties are exact.
    - Each job weighs its cost; the paper's jobs all weigh 1.
    - Algorithm 1 knows no elastic jobs. Here a job stands where its base workers are, so the servers of the
      flexible groups cost nothing and are released first (section 5.3).
    - With ``elasticity="fungible"`` base and flexible workers are kept apart all the same, which is safe: a job
      that keeps its base workers survives under both rules.
    - Collateral damage plays no part.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> greedy(problem).solution.servers, greedy(problem).objective
    (('s1', 's2'), 1)
    >>> greedy(problem, cost="gpu_fraction").solution.servers
    ('s5', 's4')
    """
    hosting = Hosting.of(problem)
    fewest = choose("single", single, {"fewest_jobs": True, "fractions": False})
    shares = _shares(problem, hosting, cost, denominator)
    if fewest and problem.demand == 1:
        shares = number_of_jobs(hosting)
    return hosting.solution(cheapest_first(hosting, shares, problem.demand, tie=tie, seed=seed))


def _shares(problem: Reclaiming, hosting: Hosting, cost: str, denominator: str) -> JobShares:
    by_gpus = choose("cost", cost, {"server_fraction": False, "gpu_fraction": True})
    everywhere = choose("denominator", denominator, {"on_loan": False, "all": True})
    if by_gpus and everywhere:
        rule = 'must be "on_loan" when cost is "gpu_fraction": GPUs on training servers are not known'
        raise InvalidInput("", "denominator", repr(denominator), rule)
    if by_gpus:
        return gpu_fractions(hosting, problem)
    elsewhere = [job.training_servers for job in problem.jobs] if everywhere else None
    return server_fractions(hosting, elsewhere)
