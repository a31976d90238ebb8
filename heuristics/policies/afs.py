"""AFS-L: one GPU at a time to the winner of pairwise comparisons of the shorter and the longer job."""

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

from gsopt.method import MethodLike
from gsopt.simulation import Decider, State
from gsopt.simulation.deciders.granting.contender import Contender, Contenders
from gsopt.simulation.deciders.granting.granting import Granting
from gsopt.simulation.deciders.granting.grants import Grants
from gsopt.simulation.deciders.granting.growth import by_method
from gsopt.studies.catalogue import find_method


def afs(state: State, *, interval: float | None = None, exact: bool = False, doubled: bool = True) -> Decider:
    """Give every further GPU to the job that gains more by it than those that it is compared with.

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
    state
        The state at the beginning of the run.
    interval
        Seconds between decisions, which are taken at its multiples; None for a decision at every event.
    exact
        Whether to divide the GPUs beyond the fewest of each job so that the sum of the times left is least, as
        the decision `gsopt.problems.Allocation`. Those without GPUs begin in the same order.
    doubled
        Whether an adaptive job is expected to divide its batch in two on a single GPU, as in the simulator of
        Pollux; else only where the batch exceeds the initial one, as jobs there do.

    Raises
    ------
    InvalidInput
        The interval is no number of seconds; or GPUs are of several kinds where `exact`.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> menu = [(1, 1.0), (2, 1.5), (3, 1.8)]
    >>> sizes = [("a", 90), ("b", 360)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in sizes]
    >>> simulate(Workload(jobs=jobs), afs, cluster=4).completion_times
    (60.0, 210.0)
    """
    method = find_method("allocation", "exact") if exact else None
    return Granting(
        state, partial(_grant, method=method), interval=interval, contenders=Contenders(state, doubled=doubled)
    )


def _grant(jobs: Sequence[Contender], grants: Grants, *, method: MethodLike | None) -> None:
    if method is None:
        _scan(jobs, grants)
        return
    started = [job for job in sorted(jobs, key=lambda job: job.left[0]) if grants.grow(job)]
    by_method(started, grants, method)


def _scan(jobs: Sequence[Contender], grants: Grants) -> None:
    """Grant step after step to the winner of a scan."""

    def stays(job: Contender) -> bool:
        return grants.may_grow(job) and _gains(job, grants.rung(job))

    def winner(one: Contender, other: Contender) -> Contender:
        return other if wins(other, grants.rung(other), one, grants.rung(one)) else one

    racing = [job for job in jobs if stays(job)]
    while racing:
        grants.grow(reduce(winner, racing))
        racing = [job for job in racing if stays(job)]


def _gains(job: Contender, rung: int) -> bool:
    """Tell whether the next step makes a job faster."""
    return rung < 0 or job.left[rung + 1] < job.left[rung]


def wins(one: Contender, rung: int, other: Contender, other_rung: int) -> bool:
    """Tell whether a job wins its comparison with the winner so far, each at a place among its counts.

    The place is -1 where a job has no GPUs.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> job = Job(name="a", release_date=0, duration=9, gpus=1)
    >>> short = Contender(0, job, (1, 2), (90.0, 60.0))
    >>> long = Contender(1, job, (1, 2), (360.0, 240.0))
    >>> wins(short, -1, long, -1), wins(short, 0, long, -1), wins(short, 0, long, 0)
    (True, False, True)
    """
    if rung < 0 and other_rung < 0:
        return bool(one.left[0] <= other.left[0])
    if rung >= 0 and (other_rung < 0 or one.left[rung] < other.left[other_rung]):
        return bool(_share_of_present(one, rung) > _share_of_next(other, other_rung))
    return not _share_of_present(other, other_rung) > _share_of_next(one, rung)


def _share_of_present(job: Contender, rung: int) -> Any:
    """Give by what share of its present speed the next step speeds a job up, for each GPU."""
    step = job.counts[rung + 1] - job.counts[rung]
    return (job.left[rung] / job.left[rung + 1] - 1) / step


def _share_of_next(job: Contender, rung: int) -> Any:
    """Give by what share of its next speed the next step speeds a job up, for each GPU; 1 for the first."""
    if rung < 0:
        return 1
    step = job.counts[rung + 1] - job.counts[rung]
    return (1 - job.left[rung + 1] / job.left[rung]) / step
