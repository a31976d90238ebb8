"""Shortest remaining service first."""

from gsopt.simulation import Decider, State
from gsopt.simulation.queues import Greedy


def srsf(state: State) -> Decider:
    """Run the jobs of the smallest remaining service, GPUs times remaining time; one that does not fit is skipped.

    Source: Tiresias (NSDI 2019), section 3 (shortest remaining service first).
    Key: remaining GPU-seconds. Ties: lower number. Preemptive at arrivals and completions; knows durations.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> jobs = [Job(name="a", release_date=0, duration=2, gpus=2), Job(name="b", release_date=1, duration=1, gpus=1)]
    >>> simulate(Workload(jobs=jobs), srsf, cluster=2).completion_times
    (3.0, 2.0)
    """
    return Greedy(state, key=lambda job: state.remaining(job) * state.jobs[job].gpus)
