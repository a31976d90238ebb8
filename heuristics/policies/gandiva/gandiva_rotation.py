"""Gandiva rotation: the baseline of ElasticFlow and Tiresias, with turns among jobs of equal demand."""

from typing import get_args

from gsopt.core.errors import require_one_of
from gsopt.simulation import Decider, State
from gsopt.simulation.interval import require_interval
from heuristics.policies.gandiva.rotating import Rotating, Sharing


def gandiva_rotation(state: State, *, span: float = 60.0, sharing: Sharing = "measured") -> Decider:
    """Start every job on arrival, on GPUs of its own or in turns of a minute with jobs of equal demand.

    Source: Gandiva (OSDI 2018), sections 3.1 and 3.2, time slicing and packing, as in the evaluations of
    Tiresias (NSDI 2019) and ElasticFlow (ASPLOS 2023): GPUs are held by groups of jobs with equal demands. Key:
    turn in the group; release date for GPUs. Ties: lower job number. Preemptive, at multiples of `span`. Does
    not know durations. O(jobs) per event.

    Readings: in those simulators jobs share GPUs at full speed if the memory suffices (``sharing="memory"``).
    Here the scenario defines the slowdowns, and jobs share only if they make no less progress together than in
    turns. Unless the scenario allows several jobs per GPU, they only take turns. While a job waits for GPUs
    because there is no group of its demand, later jobs join groups but open no new ones, so that GPUs become
    free. It may still wait as long as groups of other demands last. A job that has made no progress in its turn
    yet, or has no checkpoints, keeps its turn. Jobs neither grow nor move (see `gandiva`, `gandiva_growing`
    and, for pairs in rounds, `gandiva_packing`).

    Parameters
    ----------
    span
        Seconds of a time slice, at least a millionth of a second.
    sharing
        The rule by which jobs of a group run at the same time: ``measured``, ``memory`` or ``never``.

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
