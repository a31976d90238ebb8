"""Shortest remaining time first."""

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.greedy import Greedy


def srtf(state: State) -> Decider:
    """Run the jobs of the shortest remaining time; one that does not fit is skipped.

    Source: Schrage, "A proof of the optimality of the shortest remaining processing time discipline" (1968),
    for one machine, where it minimises the mean job completion time; the baseline of many GPU schedulers.
    Key: remaining seconds on the demanded GPUs. Ties: lower number. Preemptive at arrivals and completions;
    knows durations. O(different demands) per start or stop.

    Overheads are not part of the key. Where they are longer than the time between events, a job may be stopped
    before it gets on, but only at an arrival or completion, of which there are finitely many: every job
    completes, in rounds as well, since the key of a job that runs never rises.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 4), ("b", 1, 1)]]
    >>> simulate(Workload(jobs=jobs), srtf, cluster=1).completion_times
    (5.0, 2.0)
    """
    return Greedy(state, key=state.remaining)
