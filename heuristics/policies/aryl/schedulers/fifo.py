"""FIFO: jobs started in order of release, without flexible workers."""

from collections.abc import Mapping

from heuristics.policies.aryl.scheduler import Scheduler, SchedulerView
from heuristics.policies.aryl.schedulers.growing import no_extras
from heuristics.policies.aryl.schedulers.starting import InOrder


def fifo(*, blocks: bool = True) -> Scheduler:
    """Start jobs in order of release on their base workers, without flexible workers.

    Source: Aryl's baseline, section 7.1, a FIFO scheduler without scaling. Key: release date. Ties: lower job
    number. Never preempts. Does not know durations. O(waiting jobs).

    Parameters
    ----------
    blocks
        Whether a job that does not fit blocks the jobs behind it. Otherwise it is skipped.

    Examples
    --------
    >>> from heuristics.policies.aryl.scheduler import SchedulerView, WaitingJob
    >>> jobs = (WaitingJob(3, 0.0, time=9.0, gpus=8), WaitingJob(5, 1.0, time=1.0, gpus=1))
    >>> fifo().order(SchedulerView(2.0, jobs, elastic=(), idle={"training": 8}, pending=True))
    [3, 5]
    """
    return _Fifo(blocks)


class _Fifo(InOrder):
    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        return no_extras(snapshot)
