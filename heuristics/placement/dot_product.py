"""Dot product: a heuristic that minimizes the dot product of a worker's needs and a server's free amounts."""

import numpy as np

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import Placement, PlacementSolution
from heuristics.placement.serving import LEVELS, Integers, Need, Scores, ServersLeft, serve, shares


@heuristic
def dot_product(
    problem: Placement, *, rounded: bool = False, budget: Budget = UNLIMITED
) -> PlacementSolution | NoSolution:
    """Place workers in the order given by the problem, each on the server with the smallest dot product.

    The two vectors are the worker's needs and the server's free amounts of CPUs and GPUs, as shares of the
    largest numbers on any server. A worker that needs part of a GPU gets it from the GPU that it fits most
    tightly.

    Complexity: O(workers * servers).

    Source: Weng et al., "Beware of fragmentation" (ATC 2023), section 6.1. Grandl et al., "Multi-resource
    packing for cluster schedulers" (SIGCOMM 2014), section 3.2, prefer the largest product instead.

    Parameters
    ----------
    problem
        The problem.
    rounded
        Whether to round the product up to a multiple of 0.02, as the authors' program does.
    budget
        Time limit.

    Examples
    --------
    >>> import gsopt
    >>> dot_product(gsopt.load("placement/small/six-items")).objective
    3
    """

    def rule(left: ServersLeft, need: Need, servers: Integers) -> tuple[Scores, Integers]:
        product = sum(free * needed for free, needed in shares(left, need, servers)) + np.zeros(servers.size)
        scores = -np.floor((1 - product / 2) * LEVELS) if rounded else product
        return scores, left.tightest(need, servers)

    return serve(problem, rule, budget=budget)
