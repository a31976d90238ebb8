"""Groups: the items of all jobs as flat arrays, which the exact algorithms use."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob

Integers = NDArray[np.int64]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Groups:
    """The items of all jobs, with one group per job.

    An item is a number of extra workers of a job; the first item of each job stands for no extra workers. A
    choice of one item per job is an array of item indices, shape (jobs,).
    """

    problem: Allocation
    unit: int  # greatest common divisor of the worker sizes: GPUs are counted in this unit
    capacity: int  # GPUs to share
    size: Integers  # GPUs per worker, shape (jobs,)
    # index of each job's first item, and at the end the number of items, shape (jobs + 1,); items that do not
    # fit into the capacity are left out
    first: Integers
    # for each item, shape (items,): job, number of extra workers, total number of workers, and GPUs
    job: Integers
    extra: Integers
    workers: Integers
    weight: Integers
    # reduction of the running time by each item, shape (items,), in floats that are up to four roundings away
    # from the exact numbers of `formulations.allocation.whole`
    value: Floats

    @classmethod
    def of(cls, problem: Allocation) -> "Groups":
        """Build the groups of a problem in which all queued jobs can start."""
        jobs = problem.jobs
        size = np.array([job.gpus_per_worker for job in jobs], dtype=np.int64)
        unit = int(np.gcd.reduce(size)) or 1
        size, capacity = size // unit, problem.remaining // unit
        fitting = [
            fitting_extras(job, most) for job, most in zip(jobs, (capacity // size).tolist(), strict=True)
        ]
        first = np.concatenate(([0], np.cumsum([1 + len(extras) for extras in fitting]))).astype(np.int64)
        job = np.repeat(np.arange(size.size), np.diff(first))
        extra = _extras(fitting, first, job)
        workers = extra + np.array([job.min_workers for job in jobs], dtype=np.int64)[job]
        return cls(
            problem=problem,
            unit=unit,
            capacity=capacity,
            size=size,
            first=first,
            job=job,
            extra=extra,
            workers=workers,
            weight=extra * size[job],
            value=_values(jobs, first, extra / workers),
        )

    @property
    def nothing(self) -> Integers:
        """The choice without any extra workers."""
        return self.first[:-1]

    def used(self, choice: Integers) -> int:
        """Return the number of GPUs that a choice uses, in units of `unit` GPUs."""
        return int(self.weight[choice].sum())

    def choice(self, solution: AllocationSolution) -> Integers:
        """Convert a solution to a choice of one item per job."""
        extra = np.array([solution.extra.get(job.name, 0) for job in self.problem.jobs], dtype=np.int64)
        below = np.add.reduceat(self.extra < extra[self.job], self.nothing) if extra.size else extra
        return self.nothing + below

    def solution(self, choice: Integers) -> AllocationSolution:
        """Convert a choice of one item per job to a solution."""
        chosen = zip(self.problem.jobs, self.extra[choice].tolist(), strict=True)
        return AllocationSolution(extra={job.name: extra for job, extra in chosen if extra})


@dataclass(frozen=True, eq=False)
class Found:
    """The outcome of an algorithm: a choice that fits, a bound on the optimum, and how they were found."""

    choice: Integers  # one item per job, shape (jobs,)
    # upper bound on the optimum minus the value of the choice; 0 if the choice is proven optimal
    excess: Exact
    message: str  # the technique, a colon, and details
    stopped_by: StoppedBy = StoppedBy.FINISHED  # why the algorithm stopped


#: Called with each better choice and its excess; returning True stops the algorithm.
Hear = Callable[[Integers, Exact], bool]


def solve_groups(
    problem: Allocation, method: str, algorithm: Callable[[Groups, Budget, Hear], Found], budget: Budget
) -> Result[AllocationSolution]:
    """Run an exact algorithm on the groups of a problem, and judge its outcome."""
    if problem.obstacle:
        return Result.judged(
            problem, method=method, infeasible=True, runtime=budget.runtime, message=problem.obstacle
        )
    groups = Groups.of(problem)

    def hear(choice: Integers, excess: Exact) -> bool:
        if budget.on_incumbent is None:
            return False
        known = Found(choice, excess, "")
        return budget.on_incumbent(judge(groups, method, known, budget)) is True

    return judge(groups, method, algorithm(groups, budget, hear), budget)


def judge(groups: Groups, method: str, found: Found, budget: Budget) -> Result[AllocationSolution]:
    """Convert an algorithm's outcome to a result.

    The bound of the result is the value of the choice found plus the outcome's excess.
    """
    runtime = budget.runtime
    solution = groups.solution(found.choice)
    return Result.judged(
        groups.problem,
        method=method,
        solution=solution,
        bound=groups.problem.objective(solution) + found.excess,
        stopped_by=found.stopped_by,
        runtime=runtime,
        solver=found.message.partition(":")[0],  # the technique: no code agrees with itself
        message=found.message,
    )


def fitting_extras(job: ElasticJob, most: int) -> Sequence[int]:
    """List the allowed numbers of extra workers of a job, up to `most`."""
    extras = job.extras
    return extras if not extras or extras[-1] <= most else extras[: bisect_right(extras, most)]


def _extras(fitting: Sequence[Sequence[int]], first: Integers, job: Integers) -> Integers:
    extra = np.arange(job.size) - first[job]
    for begin, extras in zip(first.tolist(), fitting, strict=False):
        if not isinstance(extras, range):
            extra[begin + 1 : begin + 1 + len(extras)] = extras
    return extra


def _values(jobs: Sequence[ElasticJob], first: Integers, share: Floats) -> Floats:
    times = [
        job.time_at_min if job.remaining_work is None else job.remaining_work / job.min_workers for job in jobs
    ]
    time = np.array([0.0 if known is None else known for known in times])
    value: Floats = np.repeat(time, np.diff(first)) * share
    for job, begin, end in zip(jobs, first[:-1].tolist(), first[1:].tolist(), strict=True):
        if job.values is not None:
            value[begin + 1 : end] = job.values[: end - begin - 1]
    return value
