"""Random choice: servers drawn at random."""

from random import Random

from gsopt.core.method import heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution


@heuristic
def random_choice(problem: Reclaiming, *, seed: int = 0) -> ReclaimingSolution:
    """Return servers drawn at random, where every set of the demanded size is equally likely.

    Parameters
    ----------
    problem
        The problem.
    seed
        Seed of the draw.

    Notes
    -----
    Source: Aryl, section 7.1 ("Random").

    Complexity: O(S) for S servers.

    Departures from the paper: none. Jobs are ignored, so idle servers and servers with only flexible workers do
    not come first.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> len(random_choice(problem, seed=1).solution.servers) == problem.demand
    True
    """
    names = [server.name for server in problem.servers]
    return ReclaimingSolution(servers=tuple(Random(seed).sample(names, problem.demand)))
