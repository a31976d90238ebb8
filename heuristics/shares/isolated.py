"""Isolated: an equal part of the GPUs of every type for each job."""

from gsopt.core.method import heuristic
from gsopt.problems.shares import Shares, TimeShares


@heuristic
def isolated(problem: Shares) -> TimeShares:
    """Grant each of J jobs the share M_t / J, divided by its demand for GPUs, on each type with M_t GPUs.

    If the shares of all types add up to more than 1, they are scaled down to a sum of 1. In any case, a job
    gets only its shares of the types on which it can run.

    Complexity: O(J T) for J jobs and T types.

    Notes
    -----
    Source: Gavel (OSDI 2020), section 4, whose finish-time fairness is relative to this allocation ("isolated"
    in its code).

    Departures from the paper: none.

    Examples
    --------
    >>> from instances.shares import typed_jobs
    >>> round(float(isolated(typed_jobs(jobs=12, criterion="finish_time", seed=1)).objective), 2)
    1.64
    """
    return problem.fitted(problem.isolated_shares)
