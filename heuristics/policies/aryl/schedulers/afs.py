"""AFS: base workers for waiting jobs, and further workers step by step for the job that gains most per GPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from heuristics.policies.aryl.scheduler import FlexibleJob, Scheduler, SchedulerView
from heuristics.policies.aryl.schedulers.growing import Pools, grow
from heuristics.policies.aryl.schedulers.starting import InOrder, Order

#: What a gain in throughput is relative to: the throughput on base workers, or the throughput before the gain.
#: ``pairs`` is the rule of AFS itself, which compares pairs of jobs.
Gain = Literal["base", "present", "pairs"]


def afs(*, gain: Gain = "base", order: Order = "release", blocks: bool = False) -> Scheduler:
    """Start jobs on base workers, then repeatedly grow the job with the largest throughput gain per GPU.

    Source: AFS (NSDI 2021) as modified in Aryl, section 7.1. Key: `order` for starts, and `gain` for workers.
    Ties: for starts, the job released first; for workers, the one that started first. Never preempts. Knows
    durations if `order` is not ``release``, or if `gain` is ``pairs``. O(W log J) for W workers granted to J
    jobs, O(W J) with ``pairs``.

    Departures from AFS: jobs grow only up to their maximum number of workers, and each step takes a job to its
    next allowed number of workers.

    Parameters
    ----------
    gain
        How gains are compared, which Aryl does not say: relative to the throughput on ``base`` workers, or to
        the ``present`` throughput, as in AFS. The latter spreads workers over more jobs. ``pairs`` is the rule
        of AFS-L, with gains per GPU. Of two jobs, the one with less remaining time wins if its gain, relative
        to its present throughput, exceeds the gain of the other, relative to the throughput that the other
        would reach. Otherwise, the other wins. One scan over the jobs, in the order of their starts, keeps the
        winner of each comparison.
    order
        Order in which waiting jobs start: by ``release`` date, by ``time`` on their base workers (as in AFS-L),
        or by ``area``, i.e. by this time multiplied by the GPUs of the base workers.
    blocks
        Whether a job that does not fit blocks the jobs behind it.

    Raises
    ------
    InvalidInput
        An option has an unknown value.

    Examples
    --------
    >>> long = FlexibleJob(0, 90.0, 1, base=1, most=4, extra=0, pool="training", speeds=(1, 2, 3, 4))
    >>> short = FlexibleJob(1, 60.0, 1, base=2, most=5, extra=0, pool="training", speeds=(2, 3, 4, 5))
    >>> snapshot = SchedulerView(0.0, (), (long, short), {"training": 3}, pending=False)
    >>> [afs(gain=gain).extras(snapshot) for gain in ("base", "present", "pairs")]
    [{0: 3, 1: 0}, {0: 2, 1: 1}, {0: 2, 1: 1}]
    """
    require_one_of("gain", gain, get_args(Gain))
    return _Afs(blocks, order, gain=gain)


@dataclass(frozen=True, kw_only=True)
class _Afs(InOrder):
    gain: Gain

    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        if self.gain == "pairs":
            return _by_pairs(snapshot)
        return grow(snapshot, self._rank)

    def _rank(self, job: FlexibleJob, before: int, after: int) -> float | None:
        """Return the negated relative gain per GPU of a step, or None if the step gains nothing."""
        gain = job.speeds[after] - job.speeds[before]
        unit = job.speeds[0 if self.gain == "base" else before]
        return -gain / unit / ((after - before) * job.worker_gpus) if gain > 0 else None


def _by_pairs(snapshot: SchedulerView) -> dict[int, int]:
    """Grant one step after another to the winner of a scan, which resumes at the last winner."""
    pools, contenders = Pools(snapshot), [_Contender(place, job) for place, job in enumerate(snapshot.elastic)]
    winners: list[_Contender | None] = [None] * (len(contenders) + 1)  # of the scan over the first contenders
    begin = 0
    while True:
        for place in range(begin, len(contenders)):
            winners[place + 1] = _better(winners[place], contenders[place])
        winner = winners[-1]
        if winner is None:
            return {contender.job.job: contender.extra for contender in contenders}
        winner.step(fits=pools.take(winner.gpus, winner.job.pool))
        begin = winner.place


class _Contender:
    """A job, its flexible workers so far, and its next step if that makes it faster."""

    __slots__ = ("extra", "following", "gpus", "job", "left", "of_later", "of_present", "place")

    def __init__(self, place: int, job: FlexibleJob) -> None:
        self.place, self.job, self.extra, self.following = place, job, 0, 0
        self._look(next(iter(job.extras), 0))

    def step(self, *, fits: bool) -> None:
        """Take the next step, or drop out if it does not fit."""
        if fits:
            self.extra = self.following
        self._look(next((each for each in self.job.extras if each > self.extra), 0) if fits else 0)

    def _look(self, following: int) -> None:
        present, later = self.job.speeds[self.extra], self.job.speeds[following]
        self.following = following if later > present else 0
        self.gpus = (following - self.extra) * self.job.worker_gpus
        self.left = self.job.time_with(self.extra)
        gain = (later - present) / self.gpus if self.following else 0.0
        self.of_present, self.of_later = gain / present, gain / later


def _better(one: _Contender | None, other: _Contender) -> _Contender | None:
    """Return which of two jobs is served, where None and a job without a next step lose.

    The job with less remaining time wins only if its relative gain is larger.
    """
    if not other.following:
        return one
    if one is None:
        return other
    short, long = (one, other) if one.left <= other.left else (other, one)
    return short if short.of_present > long.of_later else long
