"""SJF-FFS: Castor's baseline that always shares, shortest job first with first-fit sharing."""

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.accumulation import fits, memory_left, sub_batches
from gsopt.simulation.parts.options import Placement, Size, placer_of, size_key
from gsopt.simulation.parts.partners import Match
from heuristics.policies.castor.colocating import Colocating


def sjf_ffs(
    state: State,
    *,
    order: Size = "time",
    skip: bool = True,
    free_first: bool = False,
    placement: Placement = "best",
) -> Decider:
    """Start jobs in order of remaining time. A job that lacks free GPUs shares with the first suitable jobs.

    This is `heuristics.policies.castor.sjf_bsbf` without the decision whether to share. Every running job that
    has GPUs to itself is a possible partner if there is enough memory. Partners are taken in ascending order of
    the first GPU that each has to itself. A job starts with the largest sub-batch that fits.

    Source: Castor, section 9.1 (baseline SJF-FFS, which resorts to colocation whenever idle resources are
    insufficient). Everything else is as in SJF-BSBF. Key: remaining time. Ties: lower job number. Not
    preemptive; knows durations but not interference. O(waiting jobs times running jobs) per event at worst.

    Parameters
    ----------
    order, skip, free_first, placement
        As in `sjf_bsbf`.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> from gsopt.scenario.speed import Speed
    >>> jobs = Workload(jobs=[Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 4), ("b", 1)]])
    >>> machine, speed = Cluster.uniform(machines=1, gpus=1), Speed(default_interference=3.0)
    >>> simulate(jobs, sjf_ffs, cluster=machine, speed=speed, share_limit=2).completion_times
    (6.0, 3.0)
    """
    key, placer = size_key(state, order), placer_of(placement)
    return Colocating(state, key, first_fit_sharing, skip=skip, free_first=free_first, placer=placer)


def first_fit_sharing(state: State, job: int, partner: int, gpus: tuple[int, ...], /) -> Match | None:
    """Accept a pair if there is enough memory, and rank it by the first GPU that the partner has to itself."""
    del partner
    item, left = state.jobs[job], memory_left(state, gpus)
    return next((Match(gpus[0], name) for name in sub_batches(item) if fits(item, name, left)), None)
