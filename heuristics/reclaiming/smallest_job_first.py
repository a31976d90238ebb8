"""Smallest job first: servers vacated by preempting the smallest jobs first."""

from gsopt.core.method import heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from heuristics.reclaiming.kill_order import by_size


@heuristic
def smallest_job_first(problem: Reclaiming) -> ReclaimingSolution:
    """Preempt the smallest jobs until enough servers are vacated, and return these servers.

    The size of a job is the number of GPUs that its base workers use on the servers on loan. Servers are
    returned in the order in which they are vacated, beginning with servers that host no job. Ties keep the
    order of the instance. Jobs that do not run on any returned server are spared in the end.

    Notes
    -----
    Source: "SSF" in Aryl, Table 12. The paper neither defines it nor explains the abbreviation. This definition
    is gsopt's own, and may differ from that of the authors.

    Complexity: O(S + J log J + H log H) for S servers, J jobs and H pairs of a job and one of its servers.

    Costs of jobs are ignored. Only base workers count, as in `greedy`, even if the problem's `elasticity` is
    ``"fungible"``.

    Examples
    --------
    >>> import gsopt
    >>> smallest_job_first(gsopt.load("reclaiming/aryl-figure-5")).solution.servers
    ('s4', 's5')
    """
    return by_size(problem, largest_first=False)
