"""SRTF: preemptive shortest remaining time first."""

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.greedy import Greedy


def srtf(state: State) -> Decider:
    """Run the jobs with the shortest remaining time, skipping jobs that do not fit.

    Source: Schrage, "A proof of the optimality of the shortest remaining processing time discipline" (1968).
    The rule minimizes the mean job completion time on a single GPU, and is a baseline of many GPU schedulers.
    Key: remaining seconds on the demanded GPUs. Ties: lower job number. Preemptive at arrivals and completions;
    knows durations. O(distinct demands) per start or stop.

    The key does not include overheads. If these are longer than the time between events, a job may be stopped
    before it makes progress. This happens only at arrivals and completions, so every job still completes.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 4), ("b", 1, 1)]]
    >>> simulate(Workload(jobs=jobs), srtf, cluster=1).completion_times
    (5.0, 2.0)
    """
    return Greedy(state, key=state.remaining)
