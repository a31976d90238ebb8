"""Gandiva: jobs grow while nobody waits, on the machines on which they run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heuristics.policies.aryl.epoch import Epoch, Scheduler
from heuristics.policies.aryl.schedulers.growing import grow, none
from heuristics.policies.aryl.schedulers.starting import in_order


def gandiva(*, blocks: bool = True, own_servers_only: bool = True) -> Scheduler:
    """Start jobs in the order of their release, and let them grow only while no job waits.

    In the order of their starts jobs get all the flexible workers that they can have, of the GPUs that are
    idle; as soon as somebody waits, all flexible workers are given back.

    Source: Gandiva (OSDI 2018) as Aryl, section 7.1, has it: "scaling out jobs to utilize the remaining
    resources on servers whenever they are under-utilized", that is when "there are available resources but no
    pending jobs". Key: release date. Ties: lower number. Never preempts. Durations are not known; neither is
    how well a job scales, so it grows even where that does not make it faster. O(waiting and elastic jobs).

    What Gandiva does beside that, time slicing, packing and migration, is no part of the comparison in Aryl;
    see `heuristics.policies.gandiva`. Who grows first is said in neither paper.

    Parameters
    ----------
    blocks
        Whether a job that does not fit blocks those behind it; else they are tried too.
    own_servers_only
        Whether a job grows only on the machines on which it already runs; else anywhere in its pool. Only the
        frame knows those, so what is given here are then the most flexible workers of each job, of which it
        gets what is there.

    Examples
    --------
    >>> from heuristics.policies.aryl.epoch import Elastic
    >>> job = Elastic(0, time=60.0, worker_gpus=2, base=1, most=3, extra=0, pool="training", speeds=(1, 2, 3))
    >>> calm, busy = (Epoch(0.0, (), (job,), {"training": 3}, pending=pending) for pending in (False, True))
    >>> anywhere = gandiva(own_servers_only=False)
    >>> anywhere.extras(calm), anywhere.extras(busy)
    ({0: 1}, {0: 0})
    """
    return _Gandiva(blocks, own_servers_only)


@dataclass(frozen=True)
class _Gandiva:
    blocks: bool
    own_servers_only: bool

    def order(self, epoch: Epoch) -> Sequence[int]:
        return [job.job for job in in_order(epoch, "release")]

    def extras(self, epoch: Epoch) -> Mapping[int, int]:
        if epoch.pending:
            return none(epoch)
        if self.own_servers_only:
            return {job.job: job.most - job.base for job in epoch.elastic}
        return grow(epoch, lambda *_: 0.0)
