"""AlloX: a policy that orders single-GPU jobs on GPUs of several types to minimize mean completion time."""

from collections.abc import Mapping
from typing import Literal

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.simulation import Decider, State
from gsopt.simulation.interval import require_interval
from heuristics.policies.allox.reserved import Reserved
from heuristics.policies.allox.sequenced import Sequenced
from heuristics.policies.gavel.rounds import Rounds


def allox(
    state: State,
    *,
    alpha: float = 1.0,
    users: Mapping[str, str] | None = None,
    rounds: Literal["original"] | None = None,
    interval: float = 360,
    renewal: float = 1920,
) -> Decider:
    """Order the waiting jobs on the GPUs to minimize mean completion time; start the first on each free GPU.

    Whenever jobs wait and a GPU is free, jobs are assigned to positions on GPUs so that the sum of costs is
    minimal. The k-th-to-last job of a GPU costs k times its running time there, plus the time until the GPU is
    free. The decision is `gsopt.problems.sequencing.Sequencing`.

    Source: AlloX (EuroSys 2020), section 4. Key: the job's position in the orders. Ties: among GPUs of one
    type, shorter jobs begin earlier, then jobs with lower numbers; with `rounds`, as in the solver. Knows
    durations. Not preemptive, except with `rounds`. O(n^2 m K) per event for n waiting jobs and m GPUs with at
    most K jobs each.

    Parameters
    ----------
    alpha
        Fraction of users whose jobs are ordered, among the users with waiting jobs; above 0 and at most 1.
        Users with the fewest GPU-seconds so far come first. Further users follow while fewer jobs are ordered
        than GPUs are free. With `rounds`: fraction of jobs that are ordered, oldest first, among the jobs that
        keep no GPU. At least as many jobs are then ordered as there are GPUs that no job keeps.
    users
        The user of each job, keyed by job name; a job without an entry is its own user. None with `rounds`.
    rounds
        None for the paper's version; ``original`` for the preemptive one of Gavel's simulator, in rounds as in
        `heuristics.policies.gavel.rounds`. There, a job that comes first on a GPU keeps it until the job
        completes. The other jobs are ordered on the GPUs that no job keeps. Until orders are computed again,
        they may also run on GPUs that become free.
    interval, renewal
        With `rounds`: length of a round, and minimum time between two computations of the orders, in seconds.
        The minimum does not apply after a computation at time 0, or if no job could run otherwise.

    Raises
    ------
    InvalidInput
        An option is out of range.
    Unsupported
        A job demands several GPUs.

    Examples
    --------
    The long job waits for the fast GPU because it would take four times as long on the other:

    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> from gsopt.scenario.cluster import Machine, Rack
    >>> from gsopt.scenario.speed import Speed
    >>> machines = [Machine(name=kind, gpus=1, gpu_type=kind) for kind in ("v100", "k80")]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 9), ("b", 2)]]
    >>> cluster, speed = Cluster(racks=[Rack(name="r", machines=machines)]), Speed(gpu_types={"k80": 4.0})
    >>> simulate(Workload(jobs=jobs), allox, cluster=cluster, speed=speed).completion_times
    (11.0, 2.0)
    """
    require(0 < number_of(alpha) <= 1, "alpha", alpha, "must be above 0 and at most 1")
    require_interval("interval", interval)
    require_interval("renewal", renewal)
    by_job = users is None or isinstance(users, Mapping)
    require(by_job, "users", users, "must be the users of jobs by name, or None")
    if rounds is None:
        return Sequenced(state, alpha=alpha, users=users)
    require_one_of("rounds", rounds, ("original",))
    require(users is None, "users", users, "must be None in rounds, where they do not count")
    return Rounds(state, Reserved(alpha), form=rounds, interval=interval, renewal=renewal)
