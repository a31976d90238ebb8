"""Equal time: the same share of time for every job, divided among types in proportion to their GPUs."""

from fractions import Fraction

from gsopt.core.method import heuristic
from gsopt.problems.shares import Shares, TimeShares


@heuristic
def equal_time(problem: Shares) -> TimeShares:
    """Grant every job the same shares: the GPUs of each type divided by the jobs' total demand.

    If the shares of all types add up to more than 1, they are scaled down to a sum of 1. In any case, a job
    gets only its shares of the types on which it can run.

    Complexity: O(J T) for J jobs and T types.

    Notes
    -----
    Source: Gavel (OSDI 2020), section 4.1, the shares X^equal with which its first policy normalizes
    throughputs.

    Departures from the paper: a job is counted once for each GPU that it demands, because the shares would not
    fit otherwise. The paper uses the shares only for normalization.

    Examples
    --------
    >>> from instances.shares import typed_jobs
    >>> round(float(equal_time(typed_jobs(jobs=12, seed=1)).objective), 2)
    0.5
    """
    demand = sum(job.gpus for job in problem.jobs)
    most = max(Fraction(1), Fraction(sum(problem.gpus.values()), demand))
    shares = {kind: count / demand / most for kind, count in problem.gpus.items()}
    return problem.fitted({job.name: shares for job in problem.jobs})
