"""Optimus: workers granted step by step to the job whose remaining time falls most per GPU."""

from collections.abc import Mapping

from heuristics.policies.aryl.scheduler import FlexibleJob, Scheduler, SchedulerView
from heuristics.policies.aryl.schedulers.growing import grow
from heuristics.policies.aryl.schedulers.starting import InOrder, Order
from heuristics.policies.optimus.race import by_time_saved


def optimus(*, order: Order = "release", blocks: bool = True) -> Scheduler:
    """Start jobs on base workers, then repeatedly grow the job whose remaining time falls most per GPU.

    Source: Optimus (EuroSys 2018), section 4.1, as described in Aryl, Appendix F: "the largest marginal gains".
    Key: `order` for starts, and the reduction in remaining time per GPU for workers. Ties: for starts, the
    job released first; for workers, the one that started first. Never preempts. Knows durations. O(I + W log J)
    for J jobs with I allowed numbers of workers in total, and W steps granted.

    Departures: the remaining time is known, not predicted from a fitted loss. There are no parameter servers.
    Each step takes a job from one allowed number of workers to the next. A job whose next step does not fit
    drops out; the original then stops altogether.

    If no job may use both pools, the flexible workers are those that `heuristics.allocation.marginal_greedy`
    chooses for each pool.

    Parameters
    ----------
    order
        Order in which waiting jobs start, as in `afs`; by default, order of release, as in the original.
    blocks
        Whether a job that does not fit blocks the jobs behind it.

    Raises
    ------
    InvalidInput
        The order is unknown.

    Examples
    --------
    >>> a = FlexibleJob(0, 150.0, 1, base=2, most=3, extra=0, pool="training", speeds=(2, 3))
    >>> b = FlexibleJob(1, 60.0, 1, base=2, most=6, extra=0, pool="training", speeds=(2, 3, 4, 5, 6))
    >>> optimus().extras(SchedulerView(0.0, (), (a, b), {"training": 4}, pending=False))
    {0: 1, 1: 3}
    """
    return _Optimus(blocks, order)


class _Optimus(InOrder):
    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        return grow(snapshot, _by_time_saved)


def _by_time_saved(job: FlexibleJob, before: int, after: int) -> float | None:
    """Return the rank of a step, which is lower the more time the step saves per GPU."""
    saved: float | None = by_time_saved(
        float(job.time_with(before)), float(job.time_with(after)), (after - before) * job.worker_gpus
    )
    return saved
