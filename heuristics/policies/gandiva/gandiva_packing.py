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

    While the jobs demand more GPUs than there are, jobs without a partner are paired at random with others of
    equal demand. A pair is dissolved when its jobs make less progress than if they took turns, or when all jobs
    fit. With m units on M GPUs, a unit of n GPUs gets the fraction M / (m n) of the time, but at most 1. If the
    `share_limit` of the run is 1, there are no pairs.

    Source: Gandiva (OSDI 2018), section 3.3 (packing), as implemented in the policy ``gandiva`` of Gavel's
    simulator (OSDI 2020), with the rounds of `heuristics.policies.gavel.gavel`. Key, largest first: the unit's
    fraction of the time, divided by its part of the time that all units have had. Ties: the unit that has
    missed more time, then the larger fraction, then the earlier arrival of the unit's last job. Preemptive at
    the beginning of rounds. Does not know durations. O(n log n) per round and kind of GPU for n jobs, plus
    O(n^2) for each random pairing, or O(n^3) for each exact one.

    Departures:

    - Gavel's code also forms pairs that cannot run or in which a job hardly progresses, and lets them wait.
    - When a job of a pair completes, its partner continues alone; in the code, both share until their steps of
      the round are done. In later rounds, the partner runs alone on spare GPUs until the next pairing; in the
      code, it may share them.

    Parameters
    ----------
    pairing
        How pairs are chosen: at ``random``, or all anew by an ``exact`` matching with the most progress.
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
        A job demands more GPUs than there are of any kind on which it can run.

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
