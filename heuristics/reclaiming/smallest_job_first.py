"""Smallest job first: preempt the smallest jobs until enough servers are vacated."""

from gsopt.core.method import heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.kill_order import vacated_in_order


@heuristic
def smallest_job_first(problem: Reclaiming) -> ReclaimingSolution:
    """Preempt the smallest jobs until enough servers are vacated, and return the first ones vacated.

    The size of a job is the number of GPUs that its base workers use on the servers on loan; jobs of equal size
    are taken in the order of the instance. Jobs are preempted until at least the demanded number of servers
    hosts no job. Servers are returned in the order in which they were vacated: first those that host no job
    anyway; those vacated by the same job in the order of the instance. A job that was preempted on the way but
    stands on none of the returned servers is spared in the end.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Source: "SSF" of Aryl, Table 12. The paper never defines it, nor says what the letters stand for; this
    definition is gsopt's own, and no figure of the table is claimed for it.

    Complexity: O(J log J + H) for J jobs and H pairs of a job and a server that hosts it.

    Departures from the paper: the definition as a whole. Costs of jobs play no part. Only base workers count,
    as in `greedy`, also with ``elasticity="fungible"``.

    Examples
    --------
    >>> import gsopt
    >>> smallest_job_first(gsopt.load("reclaiming/aryl-figure-5")).solution.servers
    ('s4', 's5')
    """
    hosting = Hosting.of(problem)
    gpus = [sum(job.workers.values()) for job in problem.jobs]
    order = sorted(range(len(gpus)), key=lambda job: gpus[job])
    return hosting.solution(vacated_in_order(hosting, order, problem.demand))
