"""Marginal: a scheduler that starts waiting jobs and grows running ones in the order of a common key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from gsopt.core.errors import number_of, require, require_one_of
from heuristics.policies.aryl.scheduler import Scheduler, SchedulerView, WaitingJob
from heuristics.policies.aryl.schedulers.growing import Pools, Rank, WorkerStep, grant, grow, least_area, steps
from heuristics.policies.aryl.schedulers.starting import InOrder

_LARGEST_EXPONENT = 16

#: Which waiting jobs start: those that rank before the flexible workers they displace, or all that fit.
Starts = Literal["ranked", "all"]


def marginal(*, starts: Starts = "ranked", exponent: float = 4) -> Scheduler:
    """Start jobs and grow running jobs in the order of a common key.

    GPUs that are idle or held by flexible workers are granted in the order of the key. They go to the base
    workers of a waiting job, which then starts, or to a job's next flexible workers.

    Source: none; this is gsopt's own scheduler, with the key of `heuristics.policies.marginal`. Key, smallest
    first: the job's remaining GPU time divided by a power of the workers' marginal efficiency. This efficiency
    is 1 for base workers and, for a flexible worker, the gain in speed relative to the speed per base worker.
    Ties: running jobs first, in order of their starts, then waiting jobs, in order of release. Never preempts.
    Knows durations. O(I + W log J) for J jobs with I allowed numbers of workers in total, and W steps granted.

    Parameters
    ----------
    starts
        Which waiting jobs start: those that get their base workers in the order of the key (``ranked``), or all
        that fit, shortest first, as in Aryl's first phase (``all``).
    exponent
        The power of the marginal efficiency; above 0 and at most 16.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from heuristics.policies.aryl.scheduler import FlexibleJob
    >>> job = FlexibleJob(0, 60.0, worker_gpus=1, base=1, most=3, extra=2, pool="training", speeds=(1, 2, 3))
    >>> waiting = (WaitingJob(1, 0.0, time=90.0, gpus=1), WaitingJob(2, 0.0, time=9.0, gpus=1))
    >>> marginal().order(SchedulerView(0.0, waiting, (job,), {"training": 0}, pending=True))
    [2]
    """
    require_one_of("starts", starts, get_args(Starts))
    rule = f"must be a number above 0 and at most {_LARGEST_EXPONENT}"
    require(0 < number_of(exponent) <= _LARGEST_EXPONENT, "exponent", exponent, rule)
    return _Marginal(False, "time", starts=starts, exponent=exponent)


@dataclass(frozen=True, kw_only=True)
class _Marginal(InOrder):
    starts: Starts
    exponent: float

    def order(self, snapshot: SchedulerView) -> Sequence[int]:
        if self.starts == "all":
            return super().order(snapshot)
        running, rank = len(snapshot.elastic), least_area(self.exponent)
        contenders = [steps(job, rank) for job in snapshot.elastic]
        contenders += [_start(job, rank) for job in snapshot.waiting]
        granted = grant(Pools(snapshot), contenders)
        return [
            snapshot.waiting[place - running].job
            for place, step in granted
            if place >= running and not step.extra
        ]

    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        return grow(snapshot, least_area(self.exponent))


def _start(job: WaitingJob, rank: Rank) -> Iterator[WorkerStep]:
    """Yield the steps of a waiting job: first its base workers, then its flexible workers."""
    yield WorkerStep(float(job.time) * job.gpus, job.gpus, "mixed", 0)
    if job.elastic is not None:
        yield from steps(job.elastic, rank)
