"""Gandiva rotation: the baseline of ElasticFlow and Tiresias, in which jobs of equal demand take turns."""

from typing import get_args

from gsopt.core.errors import require_one_of
from gsopt.simulation import Decider, State
from gsopt.simulation.interval import require_interval
from heuristics.policies.gandiva.rotating import Rotating, Sharing


def gandiva_rotation(state: State, *, span: float = 60.0, sharing: Sharing = "measured") -> Decider:
    """Start every job on its own GPUs, or let it take turns with jobs of equal demand.

    A new job gets GPUs of its own, and opens a group, if enough are free and no other job waits for GPUs.
    Otherwise, it joins the group of its demand that has the fewest jobs, or waits if there is none. The jobs of
    a group take turns on its GPUs.

    Source: Gandiva (OSDI 2018), sections 3.1 and 3.2 (time slicing and packing), as in the evaluations of
    Tiresias (NSDI 2019) and ElasticFlow (ASPLOS 2023). Key: for turns, the position in the group; for GPUs, the
    release date. Ties: lower job number. Preemptive at multiples of `span` and, if more than two jobs may share
    a GPU, at completions. Does not know durations. O(jobs) per event.

    Readings: in the simulators of the two papers, jobs share GPUs at full speed if there is enough memory.
    Here, the scenario defines the slowdowns, and jobs share only if the `share_limit` of the run is above 1.
    While a job waits for GPUs, later jobs may join groups but get no GPUs of their own. A job that has made no
    progress in its turn, or has no checkpoints, keeps its turn. Jobs neither grow nor move.

    Parameters
    ----------
    span
        Length of a time slice in seconds, at least a millionth of a second.
    sharing
        When a further job of a group runs at the same time: if memory suffices and the sum of the speeds,
        relative to running alone, does not fall (``measured``); if memory suffices (``memory``); or ``never``.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 90), ("b", 60)]]
    >>> simulate(Workload(jobs=jobs), gandiva_rotation, cluster=1).completion_times
    (150.0, 120.0)
    """
    require_interval("span", span)
    require_one_of("sharing", sharing, get_args(Sharing))
    return Rotating(state, span=span, sharing=sharing)
