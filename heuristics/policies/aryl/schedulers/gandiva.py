"""Gandiva: a scheduler that grows jobs on the machines they already use while no job is waiting."""

from collections.abc import Mapping
from dataclasses import dataclass

from heuristics.policies.aryl.scheduler import Scheduler, SchedulerView
from heuristics.policies.aryl.schedulers.growing import grow, no_extras
from heuristics.policies.aryl.schedulers.starting import InOrder


def gandiva(*, blocks: bool = True, own_servers_only: bool = True) -> Scheduler:
    """Start jobs in order of release, and let them grow only while no job waits.

    While no job waits, jobs get as many flexible workers as fit on idle GPUs. Otherwise, they have none.

    Source: Gandiva (OSDI 2018) as in Aryl, section 7.1, without time slicing, packing and migration (see
    `heuristics.policies.gandiva`). Key: release date. Ties: lower job number. Never preempts. Knows neither
    durations nor scaling, so a job grows even if that does not make it faster. O(waiting and elastic jobs) by
    default.

    Parameters
    ----------
    blocks
        Whether a job that does not fit blocks the jobs behind it. Otherwise it is skipped.
    own_servers_only
        Whether a job grows only on the machines on which it already runs; jobs with the largest workers grow
        first. Otherwise, jobs grow anywhere in their pools, in the order of their starts.

    Examples
    --------
    >>> from heuristics.policies.aryl.scheduler import FlexibleJob, SchedulerView
    >>> job = FlexibleJob(0, 60.0, worker_gpus=2, base=1, most=3, extra=0, pool="training", speeds=(1, 2, 3))
    >>> calm, busy = (SchedulerView(0.0, (), (job,), {"training": 3}, pending=each) for each in (False, True))
    >>> anywhere = gandiva(own_servers_only=False)
    >>> anywhere.extras(calm), anywhere.extras(busy)
    ({0: 1}, {0: 0})
    """
    return _Gandiva(blocks, own_servers_only=own_servers_only)


@dataclass(frozen=True, kw_only=True)
class _Gandiva(InOrder):
    own_servers_only: bool

    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        if snapshot.pending:
            return no_extras(snapshot)
        if self.own_servers_only:
            return {job.job: job.most - job.base for job in snapshot.elastic}
        return grow(snapshot, lambda *_: 0.0)
