"""Growing: GPUs granted step by step to the job whose next step has the lowest rank."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from heuristics.policies.aryl.scheduler import FlexibleJob, Pool, SchedulerView
from heuristics.policies.optimus.race import race

#: Ranks a job's change from one count of flexible workers to another; the lowest wins; None excludes it.
Rank = Callable[[FlexibleJob, int, int], float | None]


class WorkerStep(NamedTuple):
    """A job's step to its next allowed number of flexible workers.

    Attributes
    ----------
    rank
        Rank of the step; the lowest goes first.
    gpus, pool
        Number of GPUs that the step needs, and their pool.
    extra
        Number of the job's flexible workers after the step.
    """

    rank: float
    gpus: int
    pool: Pool
    extra: int


class Pools:
    """The number of GPUs in each pool that are idle or held by flexible workers.

    The flexible workers of mixed jobs may be in either pool. Their GPUs are therefore reserved for mixed jobs,
    which may also take GPUs from both pools.
    """

    def __init__(self, snapshot: SchedulerView) -> None:
        self._pools = {pool: snapshot.idle.get(pool, 0) for pool in ("training", "inference")}
        self._total = sum(self._pools.values())
        for job in snapshot.elastic:
            held = job.extra * job.worker_gpus
            self._total += held
            if job.pool in self._pools:
                self._pools[job.pool] += held

    def take(self, gpus: int, pool: Pool = "mixed") -> bool:
        """Take GPUs from a pool, or from both for ``mixed``, and return whether enough were left.

        If not, none are taken.
        """
        if gpus > self.left(pool):
            return False
        self._total -= gpus
        if pool in self._pools:
            self._pools[pool] -= gpus
        return True

    def left(self, pool: Pool) -> int:
        """Return how many GPUs are left in a pool, or in all pools for ``mixed``."""
        return min(self._total, self._pools.get(pool, self._total))


def steps(job: FlexibleJob, rank: Rank) -> Iterator[WorkerStep]:
    """Yield the steps of a job, starting without flexible workers, until a step has no rank."""
    before = 0
    for after in job.extras:
        value = rank(job, before, after)
        if value is None:
            return
        yield WorkerStep(value, (after - before) * job.worker_gpus, job.pool, after)
        before = after


def grant(pools: Pools, contenders: Iterable[Iterator[WorkerStep]]) -> Iterator[tuple[int, WorkerStep]]:
    """Repeatedly grant the step with the lowest rank, and yield it with the index of its contender.

    A contender is an iterator over steps, such as those of one job. It drops out when its next step does not
    fit. Ties go to the first contender. O(J + S log J) for S steps of J contenders.
    """
    return race(contenders, lambda _, step: pools.take(step.gpus, step.pool))


def grow(snapshot: SchedulerView, rank: Rank) -> dict[int, int]:
    """Return the number of flexible workers of each elastic job after granting steps in order of rank.

    A step leads to the next allowed number of workers, i.e. one more if all numbers are allowed. A job gets no
    more workers once its next step does not fit or has no rank.
    """
    given = no_extras(snapshot)
    for place, step in grant(Pools(snapshot), [steps(job, rank) for job in snapshot.elastic]):
        given[snapshot.elastic[place].job] = step.extra
    return given


def no_extras(snapshot: SchedulerView) -> dict[int, int]:
    """Return zero flexible workers for each elastic job."""
    return dict.fromkeys((job.job for job in snapshot.elastic), 0)


def least_area(exponent: float) -> Rank:
    """Return a function that ranks steps by remaining GPU time over a power of the marginal efficiency.

    The GPU time is measured on base workers. The marginal efficiency is the gain in speed per additional
    worker, relative to the speed per base worker, and is 1 for a job that scales linearly. A step that gains
    nothing has no rank.
    """

    def rank(job: FlexibleJob, before: int, after: int) -> float | None:
        gain = (job.speeds[after] - job.speeds[before]) / (after - before)
        if gain <= 0:
            return None
        efficiency = gain * job.base / job.speeds[0]
        return area(job) / math.pow(efficiency, exponent)

    return rank


def area(job: FlexibleJob) -> float:
    """Return the remaining GPU-seconds of a job on its base workers."""
    return float(job.time) * job.base * job.worker_gpus
