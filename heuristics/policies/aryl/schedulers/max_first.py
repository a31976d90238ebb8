"""Max first: a job starts only on what running jobs cannot use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heuristics.policies.aryl.epoch import Elastic, Epoch, Scheduler
from heuristics.policies.aryl.schedulers.growing import grow
from heuristics.policies.aryl.schedulers.pools import Pools
from heuristics.policies.aryl.schedulers.remaining import least_area
from heuristics.policies.aryl.schedulers.starting import Order, in_order, require_order


def max_first(*, order: Order = "area", blocks: bool = False) -> Scheduler:
    """Grant running jobs their most workers before any other job starts, the least GPU time left first.

    Aryl starts all jobs that fit on their base workers, and divides among them what is left: where most jobs
    are elastic they all run, slowly. Here it is the other way round: what running jobs do not want is there for
    the next job, which wants its most workers in turn.

    Source: none; shortest remaining processing time for jobs that scale linearly, which have the same GPU time
    on any number of workers, so that it is best to use all GPUs for the one that is done soonest. Key of
    starts: `order`; of workers: GPU time left. Ties: the job that was released, or started, first. Never
    preempts. Knows durations. O(I + W log J) for I allowed numbers of workers of J jobs, W of which are given.

    It tells what the first phase of Aryl costs, which is nothing: on a quarter of the clusters of
    `instances.scenarios.aryl`, where all jobs are elastic and none on loan, the mean JCT of five days is 12,484
    s and mean queueing 601 s. With all jobs on their base workers first, and workers in the same order
    (``marginal(starts="all")``), they are 12,200 and 30 s; those of Aryl are 12,989 and 38 s.

    Parameters
    ----------
    order
        In which order waiting jobs start.
    blocks
        Whether a job that does not fit into what is left blocks those behind it.

    Raises
    ------
    InvalidInput
        There is no such order.

    Examples
    --------
    >>> from heuristics.policies.aryl.epoch import Waiting
    >>> job = Elastic(0, 60.0, worker_gpus=1, base=1, most=3, extra=0, pool="training", speeds=(1, 2, 3))
    >>> waiting = (Waiting(1, 0.0, time=9.0, gpus=2), Waiting(2, 0.0, time=9.0, gpus=1))
    >>> max_first().order(Epoch(0.0, waiting, (job,), {"training": 3}, pending=True))
    [2]
    """
    require_order(order)
    return _MaxFirst(blocks, order)


@dataclass(frozen=True)
class _MaxFirst:
    blocks: bool
    sequence: Order

    def order(self, epoch: Epoch) -> Sequence[int]:
        pools = Pools(epoch)
        for job in epoch.elastic:
            _fill(pools, job)
        starting = []
        for waiting in in_order(epoch, self.sequence):
            if not pools.take(waiting.gpus):
                if self.blocks:
                    break
                continue
            starting.append(waiting.job)
            if waiting.elastic is not None:
                _fill(pools, waiting.elastic)
        return starting

    def extras(self, epoch: Epoch) -> Mapping[int, int]:
        return grow(epoch, least_area(exponent=1))


def _fill(pools: Pools, job: Elastic) -> None:
    """Take what the job's flexible workers can use."""
    wanted = (job.most - job.base) * job.worker_gpus
    pools.take(min(wanted, pools.left(job.pool)), job.pool)
