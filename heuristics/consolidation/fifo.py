"""FIFO: free GPUs offered to the jobs in queue order."""

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution
from heuristics.consolidation.offering import offer


@heuristic
def fifo(problem: Consolidation, *, budget: Budget = UNLIMITED) -> ConsolidationSolution:
    """Offer the free GPUs to the jobs in the order of the instance.

    A job gets GPUs as close together as possible, and accepts any tier. It is skipped if too few GPUs are free.

    Complexity: O(J R + G) for J jobs, R racks and G GPUs.

    Source: Dally, Algorithm 1, with both timers at zero. There, jobs that have not run yet all have a network
    sensitivity of 0, so they keep their order.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> round(float(fifo(half_busy(racks=2, jobs=50, seed=1)).objective), 3)
    57.695
    """
    return offer(problem, problem.jobs, budget)
