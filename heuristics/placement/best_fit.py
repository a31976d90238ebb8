"""Best fit: a heuristic that places each worker on the server that will have the least left."""

import numpy as np

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import Placement, PlacementSolution
from heuristics.placement.serving import LEVELS, Integers, Need, Scores, ServersLeft, serve, shares


@heuristic
def best_fit(
    problem: Placement, *, rounded: bool = False, budget: Budget = UNLIMITED
) -> PlacementSolution | NoSolution:
    """Place workers in the order given by the problem, each on the server that will have the least left.

    What a server has left is measured by the mean of its free CPUs and its free GPUs, as shares of the largest
    numbers on any server. A worker that needs part of a GPU gets it from the GPU that it fits most tightly.

    Complexity: O(workers * servers).

    Source: Weng et al., "Beware of fragmentation" (ATC 2023), section 6.1.

    Parameters
    ----------
    problem
        The problem.
    rounded
        Whether to round the mean up to a multiple of 0.01, as the authors' program does.
    budget
        Time limit.

    Examples
    --------
    >>> import gsopt
    >>> best_fit(gsopt.load("placement/small/six-items")).objective
    3
    """

    def rule(left: ServersLeft, need: Need, servers: Integers) -> tuple[Scores, Integers]:
        rest = sum((free - needed) / 2 for free, needed in shares(left, need, servers)) + np.zeros(servers.size)
        return -np.floor((1 - rest) * LEVELS) if rounded else rest, left.tightest(need, servers)

    return serve(problem, rule, budget=budget)
