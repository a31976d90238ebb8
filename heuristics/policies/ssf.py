"""SSF: shortest service first, where service is GPUs times duration."""

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.skipping import Skipping


def ssf(state: State) -> Decider:
    """Start the waiting jobs with the smallest service first, skipping jobs that do not fit.

    Source: Castor, section 9 (baseline SSF). Key: GPU-seconds. Ties: lower job number. Not preemptive; knows
    durations. O(distinct demands) per start.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=g) for n, d, g in [("a", 2, 2), ("b", 3, 1)]]
    >>> simulate(Workload(jobs=jobs), ssf, cluster=2).completion_times
    (5.0, 3.0)
    """
    return Skipping(state, key=lambda job: state.jobs[job].gpu_seconds)
