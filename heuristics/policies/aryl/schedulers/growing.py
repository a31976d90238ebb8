"""Growing: GPUs go, step by step, to the job whose next step has the lowest rank."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from heuristics.policies.aryl.scheduler import FlexibleJob, Pool, SchedulerView
from heuristics.policies.optimus.race import race

#: The rank of a job's step from one number of flexible workers to another; the lowest goes first, None never.
Rank = Callable[[FlexibleJob, int, int], float | None]


class WorkerStep(NamedTuple):
    """The next step of a job.

    Attributes
    ----------
    rank
        Its rank. The lowest rank goes first.
    gpus, pool
        GPUs that the step needs, and their pool.
    extra
        Flexible workers of the job after the step.
    """

    rank: float
    gpus: int
    pool: Pool
    extra: int


class Pools:
    """The GPUs, by pool, that are idle or held by flexible workers.

    The pool of mixed jobs' flexible workers is unknown. Their GPUs are left to mixed jobs, which may also take
    GPUs of the two pools. So workers can be placed on all GPUs taken.
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
        """Take GPUs of a pool, or of any, and return whether enough were left."""
        if gpus > self.left(pool):
            return False
        self._total -= gpus
        if pool in self._pools:
            self._pools[pool] -= gpus
        return True

    def left(self, pool: Pool) -> int:
        """Return the number of GPUs left for a pool."""
        return min(self._total, self._pools.get(pool, self._total))


def steps(job: FlexibleJob, rank: Rank) -> Iterator[WorkerStep]:
    """Yield the steps of a job from no flexible workers to its most, while they have a rank."""
    before = 0
    for after in job.extras:
        value = rank(job, before, after)
        if value is None:
            return
        yield WorkerStep(value, (after - before) * job.worker_gpus, job.pool, after)
        before = after


def grant(pools: Pools, contenders: Iterable[Iterator[WorkerStep]]) -> Iterator[tuple[int, WorkerStep]]:
    """Repeatedly grant the step of the lowest rank, and yield it with the index of its contender.

    A contender whose step does not fit drops out. Ties go to the first contender. O(J + S log J) for S steps of
    J contenders.
    """
    return race(contenders, lambda _, step: pools.take(step.gpus, step.pool))


def grow(snapshot: SchedulerView, rank: Rank) -> dict[int, int]:
    """Return the flexible workers of each elastic job after granting steps by their ranks.

    A step leads to the next allowed number of workers, one more if all are allowed. A job gets no more workers
    once its next step does not fit or has no rank.
    """
    given = no_extras(snapshot)
    for place, step in grant(Pools(snapshot), [steps(job, rank) for job in snapshot.elastic]):
        given[snapshot.elastic[place].job] = step.extra
    return given


def no_extras(snapshot: SchedulerView) -> dict[int, int]:
    """Return zero flexible workers for each elastic job."""
    return dict.fromkeys((job.job for job in snapshot.elastic), 0)


def least_area(exponent: float) -> Rank:
    """Return a rank of steps: the job's remaining GPU time over the marginal efficiency to a power.

    The GPU time is measured on base workers. The marginal efficiency is the gain in speed per additional
    worker, relative to the speed per base worker, and is 1 for a job that scales linearly. A step without gain
    has no rank.
    """

    def rank(job: FlexibleJob, before: int, after: int) -> float | None:
        gain = (job.speeds[after] - job.speeds[before]) / (after - before)
        if gain <= 0:
            return None
        efficiency = gain * job.base / job.speeds[0]
        return area(job) / math.pow(efficiency, exponent)

    return rank


def area(job: FlexibleJob) -> float:
    """Return the GPU-seconds that a job needs on base workers."""
    return float(job.time) * job.base * job.worker_gpus
