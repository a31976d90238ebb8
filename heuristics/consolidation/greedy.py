"""Greedy: the most valuable jobs for each GPU first."""

from fractions import Fraction

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution
from heuristics.consolidation.offering import offer


@heuristic
def greedy(problem: Consolidation, *, budget: Budget = UNLIMITED) -> ConsolidationSolution:
    """Offer the free GPUs to the jobs by value density: the worth on the narrowest tier, for each GPU.

    Equal jobs keep their order. Every job accepts what it is offered, on whatever tier.

    Complexity: O(J log J + G) for J jobs and G GPUs, and a look at every rack for each job.

    Source: Dally, Algorithm 1, with both timers at zero, job by job in the order of the usual greedy algorithm
    for the knapsack instead of the paper's.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> round(float(greedy(half_busy(racks=2, jobs=50, seed=1)).objective), 3)
    60.78
    """
    narrowest = problem.tiers[0]
    dearest = sorted(problem.jobs, key=lambda job: -Fraction(problem.worth(job, narrowest)) / job.gpus)
    return offer(problem, dearest, budget)
