"""Most sensitive first: free GPUs offered first to the jobs that suffer most from the network."""

from fractions import Fraction

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution, Job
from heuristics.consolidation.offering import offer


@heuristic
def most_sensitive_first(problem: Consolidation, *, budget: Budget = UNLIMITED) -> ConsolidationSolution:
    """Offer free GPUs first to the jobs that lose the largest share of their value on the widest tier.

    Ties keep the order of the instance. A job gets GPUs as close together as possible, but accepts any tier, so
    even sensitive jobs are spread over several racks if no single machine or rack has room. A job is skipped if
    too few GPUs are free.

    Complexity: O(J (log J + R) + G) for J jobs, R racks and G GPUs.

    Source: Dally, section IV-B, which offers GPUs in ascending order of Nw_sens, the share of a job's running
    time that is spent on computing. The paper measures Nw_sens for jobs that have run. Here it is replaced by a
    waiting job's value on the widest tier, relative to its value on the narrowest tier.

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
