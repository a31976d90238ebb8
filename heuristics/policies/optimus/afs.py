"""AFS-L: one GPU at a time to the winner of pairwise comparisons of the shorter and the longer job."""

from functools import partial

from gsopt.evaluation.catalogue import find_method
from gsopt.simulation import Decider, State
from heuristics.policies.optimus.contender import Contenders
from heuristics.policies.optimus.granting import Grant, Granting
from heuristics.policies.optimus.growth import by_method
from heuristics.policies.optimus.pairs import by_pairs


def afs(state: State, *, interval: float | None = None, exact: bool = False, doubled: bool = True) -> Decider:
    """Grant every further GPU to the job that gains more by it than those that it is compared with.

    All GPUs are granted anew at every event, one after the other. For each a scan keeps the winner of its
    comparisons: of two jobs without GPUs the one with less time left on its fewest; otherwise the one with
    less time left on what it has, if its speed grows by a larger share of what it has than that of the other
    grows by of what it would have. A job without GPUs has no end in sight, and its speed grows by all of it.

    Source: AFS (NSDI 2021), AFS-L, which knows lengths; AFS-P is left out. Its authors' code is not public.
    Key: as above. Ties: the job that the scan comes to last where neither has GPUs, else the winner so far
    counts as the one with less time left. Preemptive; resizes; knows durations. Placement as `optimus` has it.
    O(J G) for G steps granted among J jobs.

    Readings: the comparison is not transitive, so the order of the scan decides; here it is that of release.
    A step of several GPUs counts for each of them, but for the first of a job; steps that make a job no faster
    are not taken; a job whose next step does not fit gets no more.

    Parameters
    ----------
    interval, doubled
        As of `heuristics.policies.optimus`, but by default a decision is taken at every event.
    exact
        As of `heuristics.policies.optimus`, but those with less time left get their fewest GPUs first.

    Raises
    ------
    InvalidInput
        The interval is no number of seconds; or GPUs are of several kinds where `exact`.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 1.5), (3, 1.8)]
    >>> sizes = [("a", 90), ("b", 360)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in sizes]
    >>> simulate(Workload(jobs=jobs), afs, cluster=4).completion_times
    (60.0, 210.0)
    """
    rule: Grant = by_pairs
    if exact:
        rule = partial(by_method, method=find_method("allocation", "exact"), shortest_first=True)
    return Granting(state, rule, interval=interval, contenders=Contenders(state, doubled=doubled))
