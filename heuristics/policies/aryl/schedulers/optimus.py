"""Optimus: one worker at a time to the job whose time left falls most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heuristics.policies.aryl.epoch import Elastic, Epoch, Scheduler
from heuristics.policies.aryl.schedulers.growing import grow
from heuristics.policies.aryl.schedulers.starting import Order, in_order, require_order
from heuristics.policies.optimus.race import by_time_saved


def optimus(*, order: Order = "release", blocks: bool = True) -> Scheduler:
    """Start jobs on their base workers, then one more to the job whose time left falls most per GPU.

    Source: Optimus (EuroSys 2018), section 4.1, as described in Aryl, Appendix F: "the largest marginal gains".
    Key of starts: `order`; of workers: the reduction of the time left. Ties: the job that started first. Never
    preempts. Knows durations. O(I + W log J) for I allowed numbers of workers of J jobs, W of which are given.

    Departures: the time left is known, not predicted from a fitted loss; workers come without parameter
    servers; base workers are those that the job has at least, not one; a job whose next step does not fit
    leaves the race, where the original stops altogether; and a job that runs keeps its base workers.

    The flexible workers are those that `heuristics.allocation.marginal_greedy` chooses; what is different from
    Aryl with that method for its second phase is who starts.

    Parameters
    ----------
    order
        In which order waiting jobs start; by release, as jobs beyond the capacity wait in the original.
    blocks
        Whether a job that does not fit blocks those behind it.

    Raises
    ------
    InvalidInput
        There is no such order.

    Examples
    --------
    >>> a = Elastic(0, 150.0, worker_gpus=1, base=2, most=3, extra=0, pool="training", speeds=(2, 3))
    >>> b = Elastic(1, 60.0, worker_gpus=1, base=2, most=6, extra=0, pool="training", speeds=(2, 3, 4, 5, 6))
    >>> optimus().extras(Epoch(0.0, (), (a, b), {"training": 4}, pending=False))
    {0: 1, 1: 3}
    """
    require_order(order)
    return _Optimus(blocks, order)


@dataclass(frozen=True)
class _Optimus:
    blocks: bool
    sequence: Order

    def order(self, epoch: Epoch) -> Sequence[int]:
        return [job.job for job in in_order(epoch, self.sequence)]

    def extras(self, epoch: Epoch) -> Mapping[int, int]:
        return grow(epoch, _longer)


def _longer(job: Elastic, before: int, after: int) -> float | None:
    """Rank a step by the time that it saves per GPU."""
    saved: float | None = by_time_saved(
        float(job.time_with(before)), float(job.time_with(after)), (after - before) * job.worker_gpus
    )
    return saved
