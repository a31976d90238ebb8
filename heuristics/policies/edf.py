"""EDF: earliest deadline first."""

from math import inf

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.greedy import Greedy


def edf(state: State, *, largest: bool = False) -> Decider:
    """Run the jobs with the earliest deadlines, each on as many GPUs as make it faster and are free.

    Jobs without a deadline come last. No job is rejected, and a job that is late keeps its place. A job that
    does not fit is skipped.

    Source: Liu and Layland (1973) for one machine; for elastic jobs the baseline EDF of ElasticFlow (ASPLOS
    2023), section 6, and its authors' program. Key: deadline. Ties: lower job number. Preemptive at arrivals
    and completions; resizes; durations are not known. O(distinct holdings) per start or resize.

    Reading: jobs take no GPUs that would slow them down. Those of the authors' program take the largest
    profiled number even then, so most are late (`largest`). The program also decides in slots of 60 s.

    The policy is left out of comparisons unless named by its path, ``heuristics.policies.edf:edf``, as it is
    meant for jobs with deadlines.

    Parameters
    ----------
    largest
        Whether jobs take numbers of GPUs on which they are no faster.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 1.5)]
    >>> sizes = [("a", 6, None), ("b", 6, 9), ("c", 6, 7)]
    >>> jobs = [Job(name=n, release_date=0, duration=w, gpus=1, menu=menu, deadline=d) for n, w, d in sizes]
    >>> simulate(Workload(jobs=jobs), edf, cluster=2).completion_times
    (12.0, 8.0, 4.0)
    """

    def due(job: int) -> float:
        deadline = state.jobs[job].deadline
        return inf if deadline is None else deadline

    def counts(job: int) -> tuple[int, ...]:
        item, useful = state.jobs[job], list[int]()
        for count in item.counts:
            if largest or not useful or item.speed(count) > item.speed(useful[-1]):
                useful.append(count)
        return tuple(useful)

    return Greedy(state, key=due, counts=counts)
