"""Two-phase: Aryl's scheduler, the shortest jobs first and then a knapsack over the flexible workers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gsopt.core.result import Result
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from heuristics.policies.aryl.epoch import Elastic, Epoch, Waiting
from heuristics.policies.aryl.knapsack import choose, divide_each_other, left_over
from heuristics.policies.aryl.steps import reductions, steps_of

#: A method of the decision `allocation`.
Knapsack = Callable[[Allocation], Result[AllocationSolution]]

#: Which running time flexible workers shorten: what remains of it, or all of it.
Work = Literal["remaining", "full"]

Counts = NDArray[np.int64]


class TwoPhase:
    """Start the shortest jobs first; then share what is left so that running times fall the most in total.

    Phase one orders by the time that a job still needs on its base workers. Phase two is a multiple-choice
    knapsack for each pool; jobs whose flexible workers may stand on both come last, on what is left of both.

    Where the sizes of all workers of a pool divide each other and each further one saves less, it is solved
    exactly on arrays, for what can be placed on the machines that there are; elsewhere, or if `knapsack` is
    given, by a method of the decision `allocation`, for the GPUs in all.

    Source: Aryl, section 5.2 and Appendix D, Algorithm 2.

    Parameters
    ----------
    fallback
        Solves what the arrays do not.
    knapsack
        Solves all knapsacks; None for arrays where they do.
    work
        Which running time flexible workers shorten: what remains of it, or, as printed, all of it.
    normalised
        How many GPUs of the inference pool count as one of the training pool, in a single knapsack over both as
        printed; None for one knapsack per pool.
    """

    blocks = False

    def __init__(
        self,
        fallback: Knapsack,
        *,
        knapsack: Knapsack | None = None,
        work: Work = "remaining",
        normalised: float | None = None,
    ) -> None:
        self._fallback, self._knapsack = fallback, knapsack
        self._full: dict[int, float] | None = {} if work == "full" else None
        self._normalised = normalised

    def order(self, epoch: Epoch) -> Sequence[int]:
        """Return the waiting jobs, the shortest first; ties go to the lower number."""
        if self._full is not None:
            for job in epoch.waiting:
                self._full.setdefault(job.job, float(job.time))
        return [job.job for job in sorted(epoch.waiting, key=_by_time)]

    def extras(self, epoch: Epoch) -> Mapping[int, int]:
        """Return the flexible workers by the knapsacks."""
        training, inference = (_rooms(epoch, pool) for pool in ("training", "inference"))
        if self._normalised is not None:
            capacity = int(training.sum() + inference.sum() // self._normalised)
            return self._share(epoch.elastic, np.array([capacity]))[0]
        extras, training = self._share(_of(epoch, "training"), training)
        more, inference = self._share(_of(epoch, "inference"), inference)
        last, _ = self._share(_of(epoch, "mixed"), np.concatenate((training, inference)))
        return {**extras, **more, **last}

    def _share(self, jobs: Sequence[Elastic], rooms: Counts) -> tuple[dict[int, int], Counts]:
        """Return the flexible workers of some jobs, those that get any, and what they leave of the machines."""
        if not jobs or not rooms.any():
            return {}, rooms
        times = [self._time(job) for job in jobs]
        sizes = np.array([job.worker_gpus for job in jobs], dtype=np.int64)
        steps = [steps_of(job.speeds) for job in jobs]
        suits = divide_each_other(np.unique(sizes).tolist()) and all(each.are_alike for each in steps)
        if self._knapsack is None and suits:
            counts = np.array([len(each.extras) for each in steps])
            gains = np.concatenate([each.shares for each in steps]) * np.repeat(times, counts)
            chosen = choose(np.repeat(sizes, counts), gains, rooms)
            owner = np.repeat(np.arange(len(jobs)), counts)
            extra = np.bincount(owner[chosen], minlength=len(jobs))
        else:
            extra = self._by_method(jobs, times, int(rooms.sum()))
        given = {job.job: number for job, number in zip(jobs, extra.tolist(), strict=True) if number}
        return given, left_over(rooms, np.repeat(sizes, extra))

    def _by_method(self, jobs: Sequence[Elastic], times: Sequence[float], capacity: int) -> Counts:
        """Solve a knapsack as a problem of the decision `allocation`; nobody gets any without a solution."""
        asked = [_asked(job, time) for job, time in zip(jobs, times, strict=True)]
        result = (self._knapsack or self._fallback)(Allocation(capacity=capacity, jobs=asked))
        extra = {} if result.solution is None else result.solution.extra
        return np.array([extra.get(job.name, 0) for job in asked], dtype=np.int64)

    def _time(self, job: Elastic) -> float:
        return float(job.time) if self._full is None else self._full.get(job.job, float(job.time))


def _by_time(job: Waiting) -> tuple[Any, int]:
    return job.time, job.job


def _of(epoch: Epoch, pool: str) -> list[Elastic]:
    return [job for job in epoch.elastic if job.pool == pool]


def _rooms(epoch: Epoch, pool: str) -> Counts:
    """Return the GPUs of each machine of a pool; where they are not known, of all as if they were one."""
    rooms = epoch.room.get(pool)
    if rooms is None:
        held = sum(job.extra * job.worker_gpus for job in epoch.elastic if job.pool == pool)
        rooms = (max(epoch.idle.get(pool, 0) + held, 0),)
    return np.array(rooms, dtype=np.int64)


def _asked(job: Elastic, time: float) -> ElasticJob:
    """Return a job as the decision `allocation` knows it."""
    return ElasticJob(
        name=str(job.job),
        min_workers=job.base,
        counts=job.extras,
        values=reductions(job.speeds, time, job.extras),
        gpus_per_worker=job.worker_gpus,
        time_at_min=time,
    )
