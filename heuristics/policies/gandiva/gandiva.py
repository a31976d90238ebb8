"""Gandiva: a policy whose jobs start on any free GPUs, take turns, and migrate to GPUs closer together."""

from gsopt.simulation import Decider, State
from gsopt.simulation.interval import require_interval
from gsopt.simulation.parts.options import Placement, placer_of
from heuristics.policies.gandiva.migrating import Migrating


def gandiva(state: State, *, lease: float | None = 28800.0, placement: Placement = "best") -> Decider:
    """Start jobs, longest wait first, on any free GPUs, and later move them to GPUs that are closer together.

    The network does not affect which jobs start, or when. A job whose GPUs are further apart than necessary
    moves when closer ones become free. When its lease ends, a job gives way to the jobs that are waiting.

    Source: Gandiva (OSDI 2018), sections 3.1 to 3.4, as in Dally's network-agnostic baseline, section V-C. Key:
    the time at which the job began to wait. Ties: lower job number. Preemptive at the end of leases; may move
    jobs at any event. Does not know durations. O(waiting and running jobs) per event, plus O(running jobs) for
    every job that moves.

    Departures: time slices are leases of hours instead of a minute. Jobs do not share GPUs, grow or shrink; for
    other comparisons, see `gandiva_growing` (Aryl), `gandiva_packing` (Gavel) and `gandiva_rotation` (Tiresias,
    ElasticFlow).

    Parameters
    ----------
    lease
        Seconds after which a job's GPUs are offered to others that wait. None: jobs never give way to others.
    placement
        As in `heuristics.policies.dally.dally`.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> from gsopt.scenario.speed import TIER_PENALTIES, Speed
    >>> sizes = [("a", 4), ("b", 8), ("c", 2)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=2, model="alexnet") for n, d in sizes]
    >>> racks = Cluster.uniform(racks=2, machines=1, gpus=3)
    >>> run = simulate(Workload(jobs=jobs), gandiva, cluster=racks, speed=Speed(tiers=TIER_PENALTIES))
    >>> run.start_times, run.completion_times
    ((0.0, 0.0, 0.0), (4.08, 8.16, 4.0))
    """
    require_interval("lease", lease, or_none=True)
    return Migrating(state, lease=lease, placer=placer_of(placement))
