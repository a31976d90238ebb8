"""Greedy: Aryl's Algorithm 1, which repeatedly returns the server with the lowest preemption cost."""

from typing import Literal

from gsopt.core.errors import InvalidInput, require_one_of
from gsopt.core.method import heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from heuristics.reclaiming.hosting import Hosting
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
    """Repeatedly return the server with the lowest preemption cost, updating the costs after each one.

    The preemption cost of a server is the sum, over the jobs that run on it, of the job's cost divided by the
    number of its servers. Returning a server preempts its jobs, which makes their other servers cheaper.

    Parameters
    ----------
    problem
        The problem.
    tie
        Which of several equally cheap servers is returned: the first in the instance (``index``), a ``random``
        one, or the one with the fewest or the most running jobs (``fewest_jobs`` or ``most_jobs``; further
        ties go to the first).
    seed
        Seed for breaking ties at random.
    cost
        ``server_fraction``, as in the algorithm, or ``gpu_fraction``, the definition that section 4 rejects:
        the sum, over the server's jobs, of the job's cost times the fraction of its GPUs that is on the server.
    denominator
        Which servers of a job are counted: those on loan (``on_loan``), or ``all``, including training servers.
    single
        How the server is chosen if only one is demanded: by the total cost of its jobs (``fewest_jobs``, our
        reading of FindBestServer in line 19), or by the ``fractions``, as for larger demands.

    Raises
    ------
    InvalidInput
        An option has an unknown value, or GPU fractions over all servers are requested, although problems do
        not state how many GPUs a job uses on training servers.

    Notes
    -----
    Source: Aryl, section 4 and Appendix B, Algorithm 1.

    Complexity: O(S log S + H log H) for S servers and H pairs of a job and a server that hosts it.

    Our interpretations where the paper is silent:

    - Ties (line 24) are broken by `tie`. In the example of Figure 5, the algorithm preempts one or two jobs,
      depending only on ties.
    - "s not in s'" (line 12) means "s other than s'".
    - A preempted job's share (line 14) is subtracted in full and only once.

    Departures from the paper:

    - Jobs are weighted by their costs; in the paper, all have the same weight.
    - Algorithm 1 does not consider elastic jobs. Here, only base workers count, so servers with only flexible
      workers cost nothing (section 5.3).
    - Costs are exact fractions, so ties are exact.
    - The second objective, collateral damage, is ignored.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> greedy(problem).solution.servers, greedy(problem).objective
    (('s1', 's2'), 1)
    >>> greedy(problem, cost="gpu_fraction").solution.servers
    ('s5', 's4')
    """
    require_one_of("single", single, ("fewest_jobs", "fractions"))
    hosting = Hosting.of(problem)
    shares = _shares(problem, hosting, cost, denominator)
    if single == "fewest_jobs" and problem.demand == 1:
        shares = number_of_jobs(hosting)
    return hosting.solution(cheapest_first(hosting, shares, problem.demand, tie=tie, seed=seed))


def _shares(problem: Reclaiming, hosting: Hosting, cost: str, denominator: str) -> JobShares:
    require_one_of("cost", cost, ("server_fraction", "gpu_fraction"))
    require_one_of("denominator", denominator, ("on_loan", "all"))
    if cost == "server_fraction":
        elsewhere = [job.training_servers for job in problem.jobs] if denominator == "all" else None
        return server_fractions(hosting, elsewhere)
    if denominator == "all":
        rule = 'must be "on_loan" when cost is "gpu_fraction": GPUs on training servers are not known'
        raise InvalidInput("denominator", repr(denominator), rule)
    return gpu_fractions(hosting, problem)
