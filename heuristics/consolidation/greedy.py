"""Greedy: free GPUs offered to the jobs with the highest value per GPU first."""

from fractions import Fraction

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution
from heuristics.consolidation.offering import offer


@heuristic
def greedy(problem: Consolidation, *, budget: Budget = UNLIMITED) -> ConsolidationSolution:
    """Offer the free GPUs to the jobs in descending order of value per GPU on the narrowest tier.

    Ties keep the order of the instance. A job gets GPUs as close together as possible, and accepts any tier. It
    is skipped if too few GPUs are free.

    Complexity: O(J (log J + R) + G) for J jobs, R racks and G GPUs.

    Source: Dally, Algorithm 1, with both timers at zero, but in the order of the usual greedy algorithm for
    knapsacks instead of the paper's order.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> round(float(greedy(half_busy(racks=2, jobs=50, seed=1)).objective), 3)
    60.78
    """
    narrowest = problem.tiers[0]
    dearest = sorted(problem.jobs, key=lambda job: -Fraction(problem.worth(job, narrowest)) / job.gpus)
    return offer(problem, dearest, budget)
