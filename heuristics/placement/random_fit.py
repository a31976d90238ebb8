"""Random fit: a heuristic that places each worker on a random server with room."""

import numpy as np
from numpy.typing import NDArray

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import Placement, PlacementSolution
from heuristics.placement.serving import Integers, Need, Scores, ServersLeft, serve


@heuristic
def random_fit(
    problem: Placement, *, seed: int = 0, budget: Budget = UNLIMITED
) -> PlacementSolution | NoSolution:
    """Place workers in the order given by the problem, each on a random server and GPU with room.

    Complexity: O(workers * servers).

    Source: Weng et al., "Beware of fragmentation" (ATC 2023), section 6.1.

    Parameters
    ----------
    problem
        The problem.
    seed
        Seed of all random draws.
    budget
        Time limit.

    Examples
    --------
    >>> import gsopt
    >>> random_fit(gsopt.load("placement/small/six-items")).objective >= 2
    True
    """
    random = np.random.default_rng(seed)

    def rule(left: ServersLeft, need: Need, servers: Integers) -> tuple[Scores, Integers]:
        return np.zeros(servers.size, dtype=np.int64), left.drawn(need, servers, random)

    def choose(scores: Scores, roomy: NDArray[np.bool_]) -> int:
        del scores
        return int(random.choice(np.flatnonzero(roomy)))

    return serve(problem, rule, budget=budget, choose=choose)
