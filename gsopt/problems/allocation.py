"""Allocation: how many extra workers each elastic job gets out of the remaining GPUs."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.grid import exact_total
from gsopt.problem import (
    Frozen,
    Gpus,
    Many,
    Name,
    Number,
    Problem,
    RuleBroken,
    Sense,
    refuse_doubles,
)

#: Number of workers of one job.
Workers = Annotated[int, Field(ge=1, le=100_000)]

#: Extra workers of all jobs together; each is an item of the knapsack.
MOST_ITEMS = 5_000_000

#: Seconds, or worker-seconds.
Duration = Annotated[float, Field(ge=0, le=1e12)]


class ElasticJob(Frozen):
    """A job that needs `min_workers` and may use up to `max_workers`; inelastic when they are equal.

    What extra workers are worth is the reduction of the running time. It follows from `time_at_min` or
    `remaining_work` when the speed is proportional to the number of workers, and is `values` otherwise.

    Attributes
    ----------
    time_at_min
        Running time with `min_workers` workers; for a running job the time it still needs.
    remaining_work
        Worker-seconds still to do, instead of `time_at_min`: that time is ``remaining_work / min_workers``.
    values
        Reduction of the running time with 1, 2, ... extra workers, shape (max_workers - min_workers,); any
        numbers, such as those of a measured scaling curve. They take the place of the proportional ones.
    queued
        Whether the job still waits, so that its minimum workers must be started out of the capacity too.

    Examples
    --------
    >>> job = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> [str(job.value(extra)) for extra in range(job.max_extra + 1)]
    ['0', '20', '30', '36', '40']
    """

    name: Name
    min_workers: Workers
    max_workers: Workers
    gpus_per_worker: Gpus = 1
    time_at_min: Duration | None = None
    remaining_work: Duration | None = None
    values: Many[Annotated[float, Field(ge=-1e12, le=1e12)]] | None = None
    queued: bool = False

    @property
    def max_extra(self) -> int:
        """Largest number of extra workers."""
        return self.max_workers - self.min_workers

    @property
    def base_gpus(self) -> int:
        """GPUs of the minimum workers."""
        return self.min_workers * self.gpus_per_worker

    @property
    def has_time(self) -> bool:
        """Whether the running time with the minimum workers is known."""
        return self.time_at_min is not None or self.remaining_work is not None

    @property
    def time(self) -> Fraction | None:
        """Running time with the minimum workers, exactly; None when only `values` are known."""
        if self.remaining_work is not None:
            return Fraction(self.remaining_work) / self.min_workers
        return None if self.time_at_min is None else Fraction(self.time_at_min)

    def value(self, extra: int) -> Fraction:
        """Reduction of the running time by a number of extra workers, exactly.

        Proportional speed: T w / (w + m) for time T at the minimum m and w extra workers (Algorithm 2,
        line 18).
        """
        if extra == 0:
            return Fraction(0)
        if self.values is not None:
            return Fraction(self.values[extra - 1])
        return (self.time or 0) * Fraction(extra, extra + self.min_workers)


class AllocationSolution(Frozen):
    """The number of extra workers of each job, by name; a job that is not named gets none."""

    extra: Mapping[str, int]


class Allocation(Problem[AllocationSolution]):
    """Share the remaining GPUs among elastic jobs so that their running times fall the most in total.

    Each job takes one number of extra workers, which costs ``extra * gpus_per_worker`` GPUs: a multiple-choice
    knapsack. `capacity` counts the GPUs that are free. The minimum workers of running jobs have their GPUs
    already; queued jobs are started, and their minimum workers take GPUs out of the capacity. Every solution
    starts every queued job, so there is none when they do not fit. Which jobs of a longer queue to start is
    the first phase of the two-phase heuristic.

    Source: Aryl, section 5.2 and Appendix D, second phase of Algorithm 2. The algorithm prints the item weight
    as ``(w + min_workers) * gpus_per_worker``. That charges minimum workers again: those of queued jobs have
    been paid in the first phase, and those of running jobs are not part of the capacity.

    Examples
    --------
    >>> table_4 = Allocation(
    ...     capacity=4,
    ...     jobs=[
    ...         ElasticJob(name="A", min_workers=2, max_workers=3, time_at_min=150),
    ...         ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60),
    ...     ],
    ... )
    >>> table_4.objective(AllocationSolution(extra={"A": 1, "B": 3}))
    86
    """

    word: ClassVar[str] = "allocation"
    sense: ClassVar[Sense] = Sense.MAXIMIZE
    solution_type: ClassVar[type[Frozen]] = AllocationSolution

    problem: Literal["allocation"] = "allocation"
    capacity: Annotated[int, Field(ge=0, le=10_000_000)]
    jobs: Many[ElasticJob]

    @model_validator(mode="after")
    def _names_differ(self) -> "Allocation":
        refuse_doubles("jobs", (job.name for job in self.jobs))
        return self

    @model_validator(mode="after")
    def _workers_form_a_range(self) -> "Allocation":
        for index, job in enumerate(self.jobs):
            if job.max_workers < job.min_workers:
                rule = f"must be at least min_workers, {job.min_workers}"
                raise RuleBroken(f"jobs[{index}].max_workers", job.max_workers, rule)
        return self

    @model_validator(mode="after")
    def _items_can_be_counted(self) -> "Allocation":
        extra = sum(job.max_extra for job in self.jobs)
        if extra > MOST_ITEMS:
            rule = f"must have at most {MOST_ITEMS:,} extra workers together"
            raise RuleBroken("jobs", f"{extra:,} extra workers", rule)
        return self

    @model_validator(mode="after")
    def _time_is_given_once(self) -> "Allocation":
        for index, job in enumerate(self.jobs):
            if job.time_at_min is not None and job.remaining_work is not None:
                rule = "must not be given together with time_at_min"
                raise RuleBroken(f"jobs[{index}].remaining_work", job.remaining_work, rule)
        return self

    @model_validator(mode="after")
    def _values_are_known(self) -> "Allocation":
        for index, job in enumerate(self.jobs):
            if not job.has_time and job.values is None:
                rule = "must be given, or remaining_work, or values"
                raise RuleBroken(f"jobs[{index}].time_at_min", None, rule)
            if job.values is not None and len(job.values) != job.max_extra:
                rule = f"must be one for each of the {job.max_extra} extra workers"
                raise RuleBroken(f"jobs[{index}].values", f"{len(job.values)} numbers", rule)
        return self

    @model_validator(mode="after")
    def _queued_jobs_have_a_time(self) -> "Allocation":
        for index, job in enumerate(self.jobs):
            if job.queued and not job.has_time:
                rule = "must be given for a queued job, or remaining_work: the queue is ordered by it"
                raise RuleBroken(f"jobs[{index}].time_at_min", None, rule)
        return self

    @property
    def unit(self) -> str:
        """Seconds by which the running times fall, over all jobs."""
        return "seconds saved"

    @property
    def remaining(self) -> int:
        """GPUs left for extra workers once every queued job is started; negative when they cannot all start."""
        return self.capacity - sum(job.base_gpus for job in self.jobs if job.queued)

    @property
    def obstacle(self) -> str:
        """Why there is no solution, naming the first queued job that cannot start; empty when there is one."""
        left = self.capacity
        for job in self.jobs:
            if job.queued and job.base_gpus > left:
                return f"queued job {job.name!r} needs {job.base_gpus} GPUs to start, {left} are left"
            left -= job.base_gpus * job.queued
        return ""

    def used_gpus(self, solution: AllocationSolution) -> int:
        """GPUs of the extra workers."""
        return sum(solution.extra.get(job.name, 0) * job.gpus_per_worker for job in self.jobs)

    def objective(self, solution: AllocationSolution) -> Number:
        """Total reduction of the running times."""
        return exact_total(job.value(solution.extra.get(job.name, 0)) for job in self.jobs)

    def violations(self, solution: AllocationSolution) -> list[str]:
        """Check that all queued jobs start, that every job stays in its range, and that the GPUs suffice."""
        most = {job.name: job.max_extra for job in self.jobs}
        found = [f"jobs: {self.obstacle}"] if self.obstacle else []
        found += [f"extra: {name!r} is no job of the instance" for name in solution.extra if name not in most]
        found += [
            f"extra: {name!r} gets {extra} extra workers, must be 0 to {most[name]}"
            for name, extra in solution.extra.items()
            if name in most and not 0 <= extra <= most[name]
        ]
        used = self.used_gpus(solution)
        if used > max(self.remaining, 0):
            found.append(f"extra: {used} GPUs are used, {max(self.remaining, 0)} remain")
        return found

    def headline(self) -> dict[str, int | float | str]:
        """Give the number of jobs and of GPUs."""
        return {"jobs": len(self.jobs), "gpus": self.capacity}

    def measures(self, solution: AllocationSolution) -> dict[str, Number]:
        """Extra workers, and remaining GPUs that stay idle."""
        return {
            "extra_workers": sum(solution.extra.values()),
            "idle_gpus": self.remaining - self.used_gpus(solution),
        }

    def candidates(self) -> Iterator[AllocationSolution]:
        """Enumerate every choice of extra workers."""
        names = [job.name for job in self.jobs]
        for extra in product(*(range(job.max_extra + 1) for job in self.jobs)):
            yield AllocationSolution(extra=dict(zip(names, extra, strict=True)))
