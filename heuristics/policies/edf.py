"""EDF: earliest deadline first, also for elastic jobs."""

from math import inf

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.greedy import Greedy


def edf(state: State, *, largest: bool = False) -> Decider:
    """Run the jobs with the earliest deadlines, each on as many of the remaining GPUs as it can use.

    Jobs without a deadline come last. No job is rejected, and a late job keeps its place in the order. A job
    that does not fit is skipped.

    Source: Liu and Layland (1973) for one machine; for elastic jobs, ElasticFlow's baseline EDF (ASPLOS 2023,
    section 6) and its authors' program. Key: deadline. Ties: lower job number. Preemptive at arrivals and
    completions; resizes; does not know durations. O(distinct numbers of GPUs held) per start or resize.

    Reading: jobs take no GPUs that do not make them faster. In the authors' program, they take the largest
    profiled number even if it does not make them faster (`largest`), and most jobs are late. The program also
    decides in slots of 60 s.

    Comparisons leave the policy out unless it is named by its path, ``heuristics.policies.edf:edf``, because it
    is meant for jobs with deadlines.

    Parameters
    ----------
    largest
        Whether jobs take the largest allowed number of GPUs that is left, even if they are no faster on it.

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
