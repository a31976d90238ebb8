"""Random pairs: a random running job with room as the partner of each pending job."""

from random import Random

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.colocation import Colocation, ColocationSolution, Share


@heuristic
def random_pairs(problem: Colocation, *, seed: int = 0, budget: Budget = UNLIMITED) -> ColocationSolution:
    """Let pending jobs share in a random order, each with a random running job that has room.

    Complexity: O(R P M) for R running and P pending jobs with M modes each.

    Parameters
    ----------
    problem
        The problem.
    seed
        Seed of the random order and the random partners.
    budget
        Time limit.

    Notes
    -----
    Source: none; this is gsopt's own baseline, which ignores interference.

    Examples
    --------
    >>> from instances.colocation import full_cluster
    >>> problem = full_cluster(running=12, pending=12, seed=1)
    >>> random_pairs(problem, seed=1).objective == random_pairs(problem, seed=1).objective
    True
    """
    random = Random(seed)
    left = list(problem.running)
    shares: dict[str, Share] = {}
    for job in random.sample(problem.pending, len(problem.pending)):
        if budget.passed:
            break
        room = [(beside, offered) for beside in left if (offered := problem.offered(beside, job))]
        if room:
            beside, offered = random.choice(room)
            shares[job.name] = Share(running=beside.name, mode=offered[0].name)
            left.remove(beside)
    return ColocationSolution(shares=shares)
