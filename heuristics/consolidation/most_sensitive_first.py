"""Most sensitive first: the jobs that suffer most from the network choose first."""

from fractions import Fraction

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution, Job
from heuristics.consolidation.offering import offer


@heuristic
def most_sensitive_first(problem: Consolidation, *, budget: Budget = UNLIMITED) -> ConsolidationSolution:
    """Offer the free GPUs to the jobs by how little of their worth the widest tier leaves them.

    Equal jobs keep their order. Every job accepts what it is offered: those that are most sensitive come first
    while machines have room, and then hold GPUs all over the network at next to no speed.

    Complexity: O(J log J + G) for J jobs and G GPUs, and a look at every rack for each job.

    Source: Dally, section III, which offers GPUs in the order of rising network sensitivity Nw_sens, the share
    of its running time that a job has computed. The paper knows it of jobs that have run. Of waiting jobs it is
    here what it comes to on the network, over what it comes to on the narrowest tier.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> round(float(most_sensitive_first(half_busy(racks=2, jobs=50, seed=1)).objective), 3)
    33.573
    """

    def left(job: Job) -> Fraction:
        best = problem.worth(job, problem.tiers[0])
        return Fraction(problem.worth(job, problem.tiers[-1])) / best if best else Fraction(1)

    return offer(problem, sorted(problem.jobs, key=left), budget)
