"""GPU packing: a heuristic that uses GPUs in use first, then free GPUs of servers in use, then idle servers."""

import numpy as np

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import WHOLE_GPU, Placement, PlacementSolution
from heuristics.placement.serving import FREE_GPU, NO_PART, Integers, Need, Scores, ServersLeft, serve

#: Exceeds the GPU capacity of any server, in thousandths of a GPU.
_MORE = 1 << 50


@heuristic
def gpu_packing(
    problem: Placement, *, rounded: bool = False, budget: Budget = UNLIMITED
) -> PlacementSolution | NoSolution:
    """Place workers in the order given by the problem, and keep GPUs free for workers that need several.

    A worker that needs part of a GPU gets it from the shared GPU that it fits most tightly. If there is none,
    or if the worker needs whole GPUs, it goes to the first server with room on which some GPU is in use. If
    there is no such server either, it goes to the idle server with the fewest GPUs. A worker without GPUs goes
    to the first server with room.

    Complexity: O(workers * servers).

    Source: Weng et al., "Beware of fragmentation" (ATC 2023), section 6.1. The paper does not say how ties
    are broken.

    Parameters
    ----------
    problem
        The problem.
    rounded
        Whether to round down the free part of a GPU to tenths, as the authors' program does.
    budget
        Time limit.

    Examples
    --------
    >>> import gsopt
    >>> gpu_packing(gsopt.load("placement/small/six-items")).objective
    3
    """
    tenth = WHOLE_GPU // 10

    def rule(left: ServersLeft, need: Need, servers: Integers) -> tuple[Scores, Integers]:
        gpus = left.tightest(need, servers)
        if not need.thousandths:
            return np.zeros(servers.size, dtype=np.int64), gpus
        of_gpu = left.shared[servers, np.maximum(gpus, 0)] // (tenth if rounded else 1)
        idle = left.free[0, servers] == left.capacity[0, servers]
        otherwise = np.where(idle, 2 * _MORE + left.capacity[0, servers], _MORE)
        return np.where((gpus != FREE_GPU) & (gpus != NO_PART), of_gpu, otherwise), gpus

    return serve(problem, rule, budget=budget)
