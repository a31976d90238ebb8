"""GPU clustering: a heuristic that puts workers that need the same number of GPUs on the same servers."""

import numpy as np

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import WHOLE_GPU, Placement, PlacementSolution
from heuristics.placement.serving import Integers, Need, Scores, ServersLeft, serve

#: Exceeds the GPU capacity of any server, in thousandths of a GPU.
_MORE = 1 << 50

#: Number of score levels within one rank of servers in the authors' program.
_LEVELS = 25


@heuristic
def gpu_clustering(
    problem: Placement, *, rounded: bool = False, budget: Budget = UNLIMITED
) -> PlacementSolution | NoSolution:
    """Place workers in the order given by the problem, each beside workers that need the same number of GPUs.

    All workers that need part of a GPU are treated alike. A worker prefers servers that host only workers like
    it, then servers that also host others, then servers that host no workers, and finally servers that host
    only others. Ties are broken by the least free GPU capacity on the server and, for parts, on the GPU. In
    these rules, workers that already run do not count unless they share a GPU, and workers without GPUs never
    count. A worker without GPUs is placed on the first server with room.

    Complexity: O(workers * servers).

    Source: Weng et al., "Beware of fragmentation" (ATC 2023), section 6.1, after Xiao et al., "Gandiva" (OSDI
    2018).

    Parameters
    ----------
    problem
        The problem.
    rounded
        Whether to round the free GPU capacity to 25 levels, as the authors' program does.
    budget
        Time limit.

    Examples
    --------
    >>> import gsopt
    >>> gpu_clustering(gsopt.load("placement/small/six-items")).objective
    3
    """

    def rule(left: ServersLeft, need: Need, servers: Integers) -> tuple[Scores, Integers]:
        gpus = left.tightest(need, servers)
        if not need.thousandths:
            return np.zeros(servers.size, dtype=np.int64), gpus
        ranks = [_rank(left.tags[server], need.tag) for server in servers.tolist()]
        rest = left.thousandths(servers)
        if rounded:
            most = int(left.capacity[0].max()) * WHOLE_GPU
            rest = -(_LEVELS * (most - rest) // most)
        return np.array(ranks, dtype=np.int64) * _MORE + rest, gpus

    return serve(problem, rule, budget=budget)


def _rank(tags: set[str], tag: str) -> int:
    """Return the rank of a server for a worker, from the tags of the server's workers; 0 is best."""
    if tag in tags:
        return 0 if len(tags) == 1 else 1
    return 3 if tags else 2
