"""Marginal: who starts and who grows compete for GPUs, by what is left and how well it scales."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from gsopt.core.errors import InvalidInput, require_one_of, shorten
from heuristics.policies.aryl.epoch import Epoch, Scheduler, Waiting
from heuristics.policies.aryl.schedulers.growing import Rank, WorkerStep, grow, race, steps
from heuristics.policies.aryl.schedulers.pools import Pools
from heuristics.policies.aryl.schedulers.remaining import least_area
from heuristics.policies.aryl.schedulers.starting import in_order

_LARGEST_EXPONENT = 16

#: Whether waiting jobs start where they go before the flexible workers that they displace, or all that fit.
Starts = Literal["ranked", "all"]


def marginal(*, starts: Starts = "ranked", exponent: float = 4) -> Scheduler:
    """Start a job if it goes before the flexible workers that it would displace, and grow jobs by the same key.

    The key is the GPU time that a job has left, over the marginal efficiency of the workers to a power: the
    base workers of a waiting job have efficiency 1, flexible ones what they add, relative to base workers.

    Source: none; it is the key of `heuristics.policies.marginal` where base workers are not preempted. Ties:
    the job that started first, then the one that was released first. Never preempts. Knows durations. O(I + W
    log J) for I allowed numbers of workers of J jobs, W of which are given.

    On a quarter of the clusters of `instances.scenarios.aryl`, where all jobs are elastic and none on loan, the
    mean JCT of five days is 12,116 s, and 12,200 s with ``starts="all"``; that of Aryl is 12,989 s. So it is
    its second phase that loses most: a knapsack of the time saved gives workers to jobs that have much time
    left.

    Parameters
    ----------
    starts
        Which waiting jobs start: those that go first by the key, or, as in Aryl's first phase, all that fit,
        the shortest first.
    exponent
        The power of the marginal efficiency; above 0 and at most 16.

    Raises
    ------
    InvalidInput
        An option is out of its range.

    Examples
    --------
    >>> from heuristics.policies.aryl.epoch import Elastic
    >>> job = Elastic(0, 60.0, worker_gpus=1, base=1, most=3, extra=2, pool="training", speeds=(1, 2, 3))
    >>> waiting = (Waiting(1, 0.0, time=90.0, gpus=1), Waiting(2, 0.0, time=9.0, gpus=1))
    >>> marginal().order(Epoch(0.0, waiting, (job,), {"training": 0}, pending=True))
    [2]
    """
    require_one_of("starts", starts, get_args(Starts))
    if not (isinstance(exponent, int | float) and 0 < exponent <= _LARGEST_EXPONENT):
        rule = f"must be a number above 0 and at most {_LARGEST_EXPONENT}"
        raise InvalidInput("", "exponent", shorten(exponent), rule)
    return _Marginal(blocks=False, starts=starts, exponent=exponent)


@dataclass(frozen=True)
class _Marginal:
    blocks: bool
    starts: Starts
    exponent: float

    def order(self, epoch: Epoch) -> Sequence[int]:
        if self.starts == "all":
            return [job.job for job in in_order(epoch, "time")]
        running, rank = len(epoch.elastic), least_area(self.exponent)
        contenders = [steps(job, rank) for job in epoch.elastic]
        contenders += [_start(job, rank) for job in epoch.waiting]
        granted = race(Pools(epoch), contenders)
        return [
            epoch.waiting[place - running].job for place, step in granted if place >= running and not step.extra
        ]

    def extras(self, epoch: Epoch) -> Mapping[int, int]:
        return grow(epoch, least_area(self.exponent))


def _start(job: Waiting, rank: Rank) -> Iterator[WorkerStep]:
    """Yield what a waiting job asks for: its base workers, and then flexible ones."""
    yield WorkerStep(float(job.time) * job.gpus, job.gpus, "mixed", 0)
    if job.elastic is not None:
        yield from steps(job.elastic, rank)
