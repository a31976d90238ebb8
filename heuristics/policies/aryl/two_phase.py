"""Two-phase: Aryl's scheduler, which starts the shortest jobs and chooses flexible workers by a knapsack."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.result import Result
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from heuristics.policies.aryl.knapsack import choose, divide_each_other, left_over
from heuristics.policies.aryl.scheduler import FlexibleJob, SchedulerView, WaitingJob

#: A method of the decision `allocation`.
Knapsack = Callable[[Allocation], Result[AllocationSolution]]

#: The running time that flexible workers are assumed to shorten: the remaining or the full one.
Work = Literal["remaining", "full"]

Counts = NDArray[np.int64]


class WorkerSteps(NamedTuple):
    """The steps from one allowed number of flexible workers to the next, up to the highest speed.

    Attributes
    ----------
    extras
        Number of flexible workers after each step, in ascending order.
    shares
        The fraction of the time on base workers that each step saves, shape (steps,).
    are_alike
        Whether each step is one worker, and no step saves more than the one before it.
    """

    extras: tuple[int, ...]
    shares: NDArray[np.float64]
    are_alike: bool


@lru_cache(maxsize=65_536)
def steps_of(speeds: tuple[float, ...]) -> WorkerSteps:
    """Return a job's steps, given its speed with base + w workers at index w (0 if not allowed)."""
    fastest = speeds.index(max(speeds))
    allowed = [extra for extra in range(fastest + 1) if speeds[extra] > 0]
    shares = [speeds[0] / speeds[few] - speeds[0] / speeds[many] for few, many in pairwise(allowed)]
    alike = len(allowed) == fastest + 1 and not any(late > early for early, late in pairwise(shares))
    return WorkerSteps(tuple(allowed[1:]), np.array(shares), alike)


class TwoPhaseScheduler:
    """A scheduler that starts the shortest jobs, then divides the other GPUs so as to save the most time.

    Phase one orders jobs by their remaining time on base workers. Phase two is a multiple-choice knapsack for
    each pool. Jobs whose flexible workers may use both pools come last, on the remaining GPUs of both pools.
    With ``work="full"``, the time saved by flexible workers is computed for all work of a job, not only for
    what remains.

    If the worker sizes in a pool divide each other, and each job grows by single workers, of which none saves
    more than the one before it, the knapsack is solved exactly on arrays, and all chosen workers can be placed
    on the machines. Otherwise, `fallback` solves it for the total number of GPUs. If `knapsack` is given, it
    solves all knapsacks instead, again for the total number of GPUs. `normalised` is the number of inference
    GPUs that count as one training GPU. If it is given, there is a single knapsack for the total number of
    GPUs, as in the paper, and it may choose workers that do not fit on the machines.

    Source: Aryl, section 5.2 and Appendix D, Algorithm 2.
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

    def order(self, snapshot: SchedulerView) -> Sequence[int]:
        """Return the waiting jobs, shortest first. Ties go to the lower job number."""
        if self._full is not None:
            for job in snapshot.waiting:
                self._full.setdefault(job.job, float(job.time))
        return [job.job for job in sorted(snapshot.waiting, key=_by_time)]

    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        """Return the number of flexible workers that the knapsacks choose for each job, omitting zeros."""
        training, inference = (_rooms(snapshot, pool) for pool in ("training", "inference"))
        if self._normalised is not None:
            capacity = int(training.sum() + inference.sum() // self._normalised)
            return self._share(snapshot.elastic, np.array([capacity]))[0]
        extras, training = self._share(_of(snapshot, "training"), training)
        more, inference = self._share(_of(snapshot, "inference"), inference)
        last, _ = self._share(_of(snapshot, "mixed"), np.concatenate((training, inference)))
        return {**extras, **more, **last}

    def _share(self, jobs: Sequence[FlexibleJob], rooms: Counts) -> tuple[dict[int, int], Counts]:
        """Return the positive numbers of flexible workers for some jobs, and the GPUs left on machines."""
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

    def _by_method(self, jobs: Sequence[FlexibleJob], times: Sequence[float], capacity: int) -> Counts:
        """Solve a knapsack with a method of the decision `allocation`, and return each job's flexible workers.

        Without a solution, no job gets workers.
        """
        problems = [_problem_job(job, time) for job, time in zip(jobs, times, strict=True)]
        result = (self._knapsack or self._fallback)(Allocation(capacity=capacity, jobs=problems))
        extra = {} if result.solution is None else result.solution.extra
        return np.array([extra.get(job.name, 0) for job in problems], dtype=np.int64)

    def _time(self, job: FlexibleJob) -> float:
        return float(job.time) if self._full is None else self._full.get(job.job, float(job.time))


def _by_time(job: WaitingJob) -> tuple[Any, int]:
    return job.time, job.job


def _of(snapshot: SchedulerView, pool: str) -> list[FlexibleJob]:
    return [job for job in snapshot.elastic if job.pool == pool]


def _rooms(snapshot: SchedulerView, pool: str) -> Counts:
    """Return the room on each machine of a pool or, if unknown, treat the pool as a single machine."""
    rooms = snapshot.room.get(pool)
    if rooms is None:
        held = sum(job.extra * job.worker_gpus for job in snapshot.elastic if job.pool == pool)
        rooms = (max(snapshot.idle.get(pool, 0) + held, 0),)
    return np.array(rooms, dtype=np.int64)


def _problem_job(job: FlexibleJob, time: float) -> ElasticJob:
    """Return a job as an item of the decision `allocation`."""
    return ElasticJob(
        name=str(job.job),
        min_workers=job.base,
        counts=job.extras,
        values=reductions(job.speeds, time, job.extras),
        gpus_per_worker=job.worker_gpus,
        time_at_min=time,
    )


def reductions(speeds: tuple[float, ...], time: float, extras: Sequence[int]) -> list[float]:
    """Return the seconds that each number of flexible workers saves compared with base workers alone."""
    return [time - time * speeds[0] / speeds[extra] for extra in extras]
