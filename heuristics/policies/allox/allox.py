"""AlloX: jobs of one GPU in the orders on GPUs of several types in which they complete earliest on average."""

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
    """Start the jobs that come first on free GPUs in the best orders of all waiting jobs, on all GPUs.

    Source: AlloX (EuroSys 2020), section 4. For a job that is the k-th last on a GPU, k jobs wait: it costs k
    times its own seconds there, and once the seconds until the GPU is free. The orders minimise the sum of
    these costs, by an assignment of jobs to positions (`gsopt.core.numbers.assignment.sequence`); the decision
    is `gsopt.problems.sequencing.Sequencing`. They are computed at every event. Durations are known.

    Key: place in the orders. Ties: between GPUs of one type shorter jobs begin earlier, then lower numbers, so
    on one type alone this is shortest job first. Not preemptive. O(n^2 m K) per event for n waiting jobs and m
    GPUs with at most K jobs each.

    For fairness only the jobs of the part `alpha` of the users with the least service are ordered, or of as
    many users as it takes for as many jobs as GPUs are free.

    Readings: with ``rounds="original"`` it is the AlloX that Gavel compares with
    (`heuristics.policies.allox.reserved`), in Gavel's rounds, which preempts: orders are for free GPUs only and
    for the oldest jobs, a job that comes first keeps its GPU, and until the orders are computed anew, at most
    every `renewal` seconds, the others run on what is left, in the order of their arrival. So it is not
    shortest job first even on one type. Users do not count there. `allox_port` is what Sia and Ares compare
    with.

    Parameters
    ----------
    alpha
        Part of the users whose jobs are ordered, those with the fewest GPU-seconds so far; in rounds, part of
        the jobs without GPUs, the oldest.
    users
        The user of each job, by names; a job without an entry is a user of its own.
    rounds
        ``original`` for Gavel's form.
    interval, renewal
        Seconds of a round, and least seconds between orders, in Gavel's form.

    Raises
    ------
    InvalidInput
        An option is out of its range.
    Unsupported
        A job demands several GPUs.

    Examples
    --------
    The long job waits for the fast GPU, as it would take four times as long on the other:

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
