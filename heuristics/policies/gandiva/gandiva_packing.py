"""Gandiva packing: the baseline of Gavel, with equal time for all, in pairs if there are too few GPUs."""

from typing import get_args

from gsopt.core.errors import require, require_one_of
from gsopt.simulation import Decider, State
from gsopt.simulation.interval import require_interval
from heuristics.policies.gandiva.packing import PackedShares, Pairing
from heuristics.policies.gavel.rounds import Rounds


def gandiva_packing(
    state: State,
    *,
    pairing: Pairing = "random",
    seed: int = 0,
    interval: float = 360,
    renewal: float = 1920,
) -> Decider:
    """Let jobs and pairs of jobs take equal turns in rounds. Pairs share all their GPUs.

    Source: Gandiva (OSDI 2018), section 3.3, packing, as implemented in the policy ``gandiva`` of Gavel's
    simulator (OSDI 2020). While the jobs demand more GPUs than there are, jobs without a partner are paired at
    random with others of equal demand. A pair stays together until its jobs make less progress than in turns
    (`heuristics.policies.gandiva.packing`). Each of m units (jobs or pairs) on M GPUs has the fraction M / (m
    n) of the time on its n GPUs, at most 1, in Gavel's rounds (`heuristics.policies.gavel.rounds`,
    ``original``).

    Key: the unit's fraction of the time, divided by the time that it has had. Ties: the time missed before
    (half a round for a new pair), then the unit whose later job came first. Preemptive, at the beginning of
    rounds. Does not know durations. O(n) per round with random pairs, and O(n^3) for the matching with
    ``exact``.

    Readings:

    - ``pairing="exact"`` chooses the pairs with the most total progress, by a maximum-weight matching. The
      published rule draws them at random.
    - Pairs that cannot run, because of memory or because a job makes almost no progress, are not formed. The
      code forms them and lets them wait.
    - When one job of a pair completes, the other continues alone. In the code neither is complete, and the
      other stays slow, until both have done their steps of the round.
    - The remaining job of a pair may run alone on spare GPUs. In the code it may share with any other job, even
      if GPUs stay empty, and regardless of interference.
    - Without racks, or if only one job may hold a GPU, there are no pairs.

    Parameters
    ----------
    pairing
        ``random`` or ``exact``.
    seed
        Seed of random pairs.
    interval
        Seconds of a round.
    renewal
        Least seconds between two pairings.

    Raises
    ------
    InvalidInput
        An option is out of range.
    Unsupported
        A job demands more GPUs than there are of any kind.

    Examples
    --------
    Two jobs without interference share one GPU:

    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> jobs = Workload(jobs=[Job(name=n, release_date=0, duration=240, gpus=1) for n in "ab"])
    >>> one = Cluster.uniform(machines=1, gpus=1)
    >>> simulate(jobs, gandiva_packing, cluster=one, share_limit=2).completion_times
    (240.0, 240.0)
    """
    require_one_of("pairing", pairing, get_args(Pairing))
    require_interval("interval", interval)
    require_interval("renewal", renewal)
    require(isinstance(seed, int), "seed", seed, "must be a whole number")
    packing = PackedShares(pairing, seed=seed)
    return Rounds(state, packing, interval=interval, renewal=renewal, pairs=lambda: packing.pairs)
