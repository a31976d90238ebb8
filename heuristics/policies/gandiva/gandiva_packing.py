"""Gandiva packing: Gavel's baseline, which grants equal GPU time to jobs, or to pairs if GPUs are scarce."""

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
    """Let units (jobs, or pairs that share GPUs) take turns in rounds, with equal GPU time for all units.

    Source: Gandiva (OSDI 2018), section 3.3 (packing), as implemented in the policy ``gandiva`` of Gavel's
    simulator (OSDI 2020). While the jobs demand more GPUs than there are, jobs without a partner are paired at
    random with others of equal demand. A pair is dissolved when its jobs make less progress than if they took
    turns, or when all jobs fit (`heuristics.policies.gandiva.packing`). With m units on M GPUs, a unit gets the
    fraction M / (m n) of the time, at most 1, on its n GPUs, in Gavel's rounds
    (`heuristics.policies.gavel.rounds`, ``original``).

    Key, largest first: the unit's fraction of the time, divided by its part of the time that all units have
    had. Ties: the unit that has missed more time (a new pair counts as having missed half a round), then the
    unit with the larger fraction, then the unit whose last job arrived earlier. Preemptive, at the beginning of
    rounds. Does not know durations. O(n log n) per round and kind of GPU for n jobs, plus O(n^2) for each
    random pairing, or O(n^3) for each exact one.

    Readings:

    - ``pairing="exact"`` chooses all pairs anew each time, by a maximum-weight matching with the largest total
      progress. The published rule chooses pairs at random.
    - Pairs are not formed if they cannot run, because of memory or because a job makes almost no progress.
      Gavel's code forms such pairs and lets them wait.
    - When one job of a pair completes, the other continues alone. In Gavel's code, neither is complete, and the
      other stays slow, until both have done their steps of the round.
    - The remaining job of a pair may run alone on spare GPUs. In Gavel's code, it may share them with any other
      job, regardless of interference, even if other GPUs stay empty.
    - If the `share_limit` of the run is 1, as in every plain cluster, there are no pairs.

    Parameters
    ----------
    pairing
        How pairs are chosen: at ``random``, or by an ``exact`` matching.
    seed
        Seed for the random pairs.
    interval
        Length of a round, in seconds.
    renewal
        Minimum time between two pairings, in seconds. It does not apply after a pairing at time 0 (by default,
        the first release), or if no job could run otherwise.

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
