"""Smallest job first: preempt the smallest jobs until enough servers are vacated."""

from gsopt.core.method import heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from heuristics.reclaiming.kill_order import by_size


@heuristic
def smallest_job_first(problem: Reclaiming) -> ReclaimingSolution:
    """Preempt the smallest jobs until enough servers are vacated, and return the first ones vacated.

    The size of a job is the number of GPUs that its base workers use on the servers on loan. Servers are
    returned in the order in which they were vacated, beginning with servers that host no job. Ties keep the
    order of the instance. In the end, jobs that do not run on any returned server are spared.

    Notes
    -----
    Source: "SSF" of Aryl, Table 12. The paper neither defines it nor explains the abbreviation. This definition
    is gsopt's own, and does not claim to reproduce the table.

    Complexity: O(J log J + H) for J jobs and H pairs of a job and one of its servers.

    Departures from the paper: the definition as a whole. Costs of jobs are ignored. Only base workers count, as
    in `greedy`, also with ``elasticity="fungible"``.

    Examples
    --------
    >>> import gsopt
    >>> smallest_job_first(gsopt.load("reclaiming/aryl-figure-5")).solution.servers
    ('s4', 's5')
    """
    return by_size(problem, largest_first=False)
