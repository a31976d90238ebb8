"""First in, first out, without flexible workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heuristics.policies.aryl.epoch import Epoch, Scheduler
from heuristics.policies.aryl.schedulers.growing import none
from heuristics.policies.aryl.schedulers.starting import in_order


def fifo(*, blocks: bool = True) -> Scheduler:
    """Start jobs in the order of their release on their base workers, and give no flexible ones.

    Source: the baseline of Aryl, section 7.1, a FIFO scheduler without scaling. Key: release date. Ties: lower
    number. Never preempts. Durations are not known. O(waiting jobs).

    Parameters
    ----------
    blocks
        Whether a job that does not fit blocks those behind it; else they are tried too.

    Examples
    --------
    >>> from heuristics.policies.aryl.epoch import Waiting
    >>> jobs = (Waiting(3, release_date=0.0, time=9.0, gpus=8), Waiting(5, release_date=1.0, time=1.0, gpus=1))
    >>> fifo().order(Epoch(2.0, jobs, elastic=(), idle={"training": 8}, pending=True))
    [3, 5]
    """
    return _Fifo(blocks)


@dataclass(frozen=True)
class _Fifo:
    blocks: bool

    def order(self, epoch: Epoch) -> Sequence[int]:
        return [job.job for job in in_order(epoch, "release")]

    def extras(self, epoch: Epoch) -> Mapping[int, int]:
        return none(epoch)
