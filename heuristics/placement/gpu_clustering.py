"""GPU clustering: workers that need the same GPUs share servers."""

import numpy as np

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import WHOLE_GPU, Placement, PlacementSolution
from heuristics.placement.serving import Integers, Need, Scores, ServersLeft, serve

#: More than the thousandths of any server's GPUs.
_MORE = 1 << 50

#: Levels of one rank of servers in the authors' program.
_LEVELS = 25


@heuristic
def gpu_clustering(
    problem: Placement, *, rounded: bool = False, budget: Budget = UNLIMITED
) -> PlacementSolution | NoSolution:
    """Place workers in the order of the problem, each beside workers that need as many GPUs.

    All workers that need a part of a GPU are alike. A worker prefers servers that only host workers like it,
    then those that host others too, then servers that host none, and finally servers with other workers only.
    Among these, it prefers the server with the least of its GPUs left, and of its GPUs the one with the least
    left. Workers that the problem does not name count only if they share a GPU.

    Complexity: O(workers * servers).

    Source: Weng et al., "Beware of fragmentation" (ATC 2023), section 6.1, after Xiao et al., "Gandiva" (OSDI
    2018).

    Parameters
    ----------
    problem
        The problem.
    rounded
        Whether to round what is left to 25 levels, as the authors' program does.
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
    """Return the rank of a server whose workers have some tags, for a worker with one; 0 is best."""
    if tag in tags:
        return 0 if len(tags) == 1 else 1
    return 3 if tags else 2
