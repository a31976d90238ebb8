"""Max first: jobs started only on GPUs that running jobs cannot use."""

from collections.abc import Mapping, Sequence

from heuristics.policies.aryl.scheduler import FlexibleJob, Scheduler, SchedulerView
from heuristics.policies.aryl.schedulers.growing import Pools, grow, least_area
from heuristics.policies.aryl.schedulers.starting import InOrder, Order, in_order


def max_first(*, order: Order = "area", blocks: bool = False) -> Scheduler:
    """Start jobs only on GPUs that running jobs cannot use, and serve jobs with the least GPU time first.

    A waiting job that starts takes as many workers as it can before the next job is considered. In contrast,
    Aryl starts every job whose base workers fit.

    Source: none; this is gsopt's own version of shortest remaining processing time for jobs that scale
    linearly. Key: `order` for starts; for workers, remaining GPU time divided by marginal efficiency (as in
    `marginal`, with an exponent of 1). Ties: for starts, the job released first; for workers, the one that
    started first. Never preempts. Knows durations. O(I + W log J) for J jobs with I allowed numbers of workers
    in total, and W steps granted.

    Parameters
    ----------
    order
        Order in which waiting jobs start: by ``release`` date, by ``time`` on their base workers, or by
        ``area``, this time multiplied by the GPUs of the base workers.
    blocks
        Whether a job that does not fit blocks the jobs behind it.

    Raises
    ------
    InvalidInput
        The order is unknown.

    Examples
    --------
    >>> from heuristics.policies.aryl.scheduler import WaitingJob
    >>> job = FlexibleJob(0, 60.0, worker_gpus=1, base=1, most=3, extra=0, pool="training", speeds=(1, 2, 3))
    >>> waiting = (WaitingJob(1, 0.0, time=9.0, gpus=2), WaitingJob(2, 0.0, time=9.0, gpus=1))
    >>> max_first().order(SchedulerView(0.0, waiting, (job,), {"training": 3}, pending=True))
    [2]
    """
    return _MaxFirst(blocks, order)


class _MaxFirst(InOrder):
    def order(self, snapshot: SchedulerView) -> Sequence[int]:
        pools = Pools(snapshot)
        for job in snapshot.elastic:
            _fill(pools, job)
        starting = []
        for waiting in in_order(snapshot, self.sequence):
            if not pools.take(waiting.gpus):
                if self.blocks:
                    break
                continue
            starting.append(waiting.job)
            if waiting.elastic is not None:
                _fill(pools, waiting.elastic)
        return starting

    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        return grow(snapshot, least_area(exponent=1))


def _fill(pools: Pools, job: FlexibleJob) -> None:
    """Take as many of the remaining GPUs as the job's flexible workers can use."""
    wanted = (job.most - job.base) * job.worker_gpus
    pools.take(min(wanted, pools.left(job.pool)), job.pool)
