"""FIFO: the jobs as they stand in the queue."""

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution
from heuristics.consolidation.offering import offer


@heuristic
def fifo(problem: Consolidation, *, budget: Budget = UNLIMITED) -> ConsolidationSolution:
    """Offer the free GPUs to the jobs in the order of the instance.

    Every job accepts what it is offered, on whatever tier; one for which too few GPUs are free is passed over.

    Complexity: O(J + G) for J jobs and G GPUs, and a look at every rack for each job.

    Source: Dally, Algorithm 1, with both timers at zero, for new jobs, all of which have a network sensitivity
    of 0 and so keep their order.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> round(float(fifo(half_busy(racks=2, jobs=50, seed=1)).objective), 3)
    57.695
    """
    return offer(problem, problem.jobs, budget)
