"""SRSF: shortest remaining service first, where service is GPUs times time."""

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.greedy import Greedy


def srsf(state: State) -> Decider:
    """Run the jobs with the least remaining service, skipping jobs that do not fit.

    The remaining service of a job is its number of GPUs times its remaining time.

    Source: Tiresias (NSDI 2019), section 3 (shortest remaining service first). Key: remaining GPU-seconds.
    Ties: lower job number. Preemptive at arrivals and completions; knows durations.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> sizes = [("a", 0, 2, 2), ("b", 1, 1, 1)]
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=g) for n, r, d, g in sizes]
    >>> simulate(Workload(jobs=jobs), srsf, cluster=2).completion_times
    (3.0, 2.0)
    """
    return Greedy(state, key=lambda job: state.remaining(job) * state.jobs[job].gpus)
