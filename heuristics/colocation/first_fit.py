"""First fit: sharing with the first running job that has room, shortest pending job first."""

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.problems.colocation import Colocation, ColocationSolution, Share
from heuristics.colocation.queue import Key, shortest_first


@heuristic
def first_fit(problem: Colocation, *, key: Key = "seconds", budget: Budget = UNLIMITED) -> ColocationSolution:
    """Let each pending job share with the first partner that has room, shortest job first.

    The partner is the first running job that has no partner yet and enough GPUs and memory. The pending job
    runs in its first mode that fits. Interference is ignored.

    Complexity: O(R P M) for R running and P pending jobs with M modes each.

    Parameters
    ----------
    problem
        The problem.
    key
        ``seconds`` sorts jobs by expected time, ``gpus`` by number of GPUs.
    budget
        Time limit.

    Notes
    -----
    Source: Castor, section 9.1 (SJF-FFS, a baseline that shares whenever too few GPUs are free).

    The paper gives no details. Modes, and a single partner for all GPUs of a job, are gsopt's choices.

    Examples
    --------
    >>> from instances.colocation import full_cluster
    >>> round(float(first_fit(full_cluster(running=12, pending=12, seed=1)).objective))
    -1752
    """
    left = list(problem.running)
    shares: dict[str, Share] = {}
    for job in shortest_first(problem, key):
        if budget.passed:
            break
        for beside in left:
            if offered := problem.offered(beside, job):
                shares[job.name] = Share(running=beside.name, mode=offered[0].name)
                left.remove(beside)
                break
    return ColocationSolution(shares=shares)
