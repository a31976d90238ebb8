"""SJF: non-preemptive shortest job first."""

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.skipping import Skipping


def sjf(state: State) -> Decider:
    """Start the shortest waiting jobs first, skipping jobs that do not fit.

    Source: Castor, section 9 (baseline SJF). Key: duration. Ties: lower job number. Not preemptive; knows
    durations. O(distinct demands) per start.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=str(i), release_date=0, duration=d, gpus=1) for i, d in enumerate([3, 1, 2])]
    >>> simulate(Workload(jobs=jobs), sjf, cluster=1).completion_times
    (6.0, 1.0, 3.0)
    """
    return Skipping(state, key=lambda job: state.jobs[job].duration)
