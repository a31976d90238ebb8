"""Elastic: two policies for elastic jobs, by least attained service and by shortest remaining time."""

from fractions import Fraction
from functools import cache
from typing import Any

from gsopt.scenario.speed import efficient_counts
from gsopt.simulation import Decider, State
from gsopt.simulation.parts.greedy import Greedy


def elastic_las(state: State, *, alpha: float | Fraction = 0.75) -> Decider:
    """Run the jobs with the fewest GPU-seconds so far, on as many GPUs as they can use efficiently.

    The allocation is that of elastic fair queuing (`efq`); only the order is different.

    Source: none; this is `las` with the allocation of Ares, section 3.3. Key: GPU-seconds held so far. Ties:
    lower job number. Preemptive at arrivals and completions or, in a run with rounds, at the beginning of
    rounds; resizes; does not know durations. O(distinct numbers of GPUs held) per start or resize.

    Parameters
    ----------
    alpha
        As in `efq`.

    Raises
    ------
    InvalidInput
        `alpha` is not a number above 0 and at most 1.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 2.0)]
    >>> sizes = [("a", 0, 6), ("b", 1, 2)]
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=1, menu=menu) for n, r, d in sizes]
    >>> simulate(Workload(jobs=jobs), elastic_las, cluster=2).completion_times
    (4.0, 2.0)
    """

    def counts(job: int) -> tuple[int, ...]:
        return efficient_counts(state.jobs[job], alpha)

    return Greedy(state, key=state.service, counts=counts, pace=type(state.now))


def elastic_srtf(state: State, *, alpha: float | Fraction = 0.75) -> Decider:
    """Run the jobs with the shortest remaining time, on as many GPUs as they can use efficiently.

    This is `elastic_las` in another order, for comparisons that separate the benefit of the order from that of
    elasticity.

    Source: none; this is `srtf` with the allocation of Ares, section 3.3. Key: remaining seconds on the largest
    number of GPUs that the job can use efficiently. Ties: lower job number. Preemptive at arrivals and
    completions or, in a run with rounds, at the beginning of rounds; resizes; knows durations.

    Parameters
    ----------
    alpha
        As in `efq`.

    Raises
    ------
    InvalidInput
        `alpha` is not a number above 0 and at most 1.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 2.0)]
    >>> sizes = [("a", 0, 6), ("b", 1, 2)]
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=1, menu=menu) for n, r, d in sizes]
    >>> simulate(Workload(jobs=jobs), elastic_srtf, cluster=2).completion_times
    (4.0, 2.0)
    """
    number = type(state.now)

    @cache
    def counts(job: int) -> tuple[int, ...]:
        return efficient_counts(state.jobs[job], alpha)

    @cache
    def top_speed(job: int) -> Any:
        return number(state.jobs[job].speed(counts(job)[-1]))

    def remaining_time(job: int) -> Any:
        return max(state.remaining(job), number(0)) / top_speed(job)

    return Greedy(state, key=remaining_time, counts=counts)
