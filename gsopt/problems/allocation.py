"""Allocation: how many of the remaining GPUs go to extra workers of each elastic job."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain, pairwise, product
from math import gcd, lcm
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.grid import Exact, decimal, exact_total, step, whole
from gsopt.core.problem import Frozen, Gpus, Many, Name, Number, Problem, RuleBroken, Sense
from gsopt.problems.names import Named

#: Number of workers of a job.
Workers = Annotated[int, Field(ge=1, le=10_000_000)]

#: Maximum number of knapsack items: the allowed numbers of extra workers, counted over all jobs.
MOST_ITEMS = 5_000_000

#: Limits on looking for a step (a common divisor) of the values. The first is the largest denominator of a
#: step, because a smaller step does not help to round bounds. The second is the largest number of values for
#: which the search is fast enough.
_LARGEST_DENOMINATOR, _MOST_VALUES = 1_000_000, 100_000

#: A duration in seconds, or work in worker-seconds.
Duration = Annotated[float, Field(ge=0, le=1e12)]


class ElasticJob(Frozen):
    """An elastic job, which runs with at least `min_workers` workers.

    Either `max_workers` or `counts` is required. The value of extra workers is the time by which they shorten
    the job. Without `values`, the speed is assumed to be proportional to the number of workers.

    Floats are read as decimals: 0.1 is exactly 1/10.

    Attributes
    ----------
    max_workers
        Maximum number of workers; any number from `min_workers` to this one is allowed.
    counts
        Allowed numbers of extra workers other than 0, in ascending order.
    time_at_min
        Running time (of a running job: remaining time) in seconds with `min_workers` workers. This or
        `remaining_work` is required of a queued job, and of any job without `values`.
    remaining_work
        Remaining work in worker-seconds, instead of `time_at_min`.
    values
        Time saved, in seconds, with each number of extra workers in `extras`.
    queued
        Whether the job is still waiting, so that its minimum workers take GPUs from the capacity too.

    Examples
    --------
    >>> job = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> [str(job.value(extra)) for extra in range(job.max_extra + 1)]
    ['0', '20', '30', '36', '40']
    >>> doubling = ElasticJob(name="C", min_workers=2, counts=[2, 6], time_at_min=60)
    >>> [str(doubling.value(extra)) for extra in (0, *doubling.extras)]
    ['0', '30', '45']
    """

    name: Name
    min_workers: Workers
    max_workers: Workers | None = None
    counts: Many[Workers] | None = None
    gpus_per_worker: Gpus = 1
    time_at_min: Duration | None = None
    remaining_work: Duration | None = None
    values: Many[Annotated[float, Field(ge=-1e12, le=1e12)]] | None = None
    queued: bool = False

    @property
    def extras(self) -> Sequence[int]:
        """Allowed numbers of extra workers other than 0, in ascending order."""
        if self.counts is not None:
            return self.counts
        return range(1, (self.max_workers or self.min_workers) - self.min_workers + 1)

    @property
    def max_extra(self) -> int:
        """Maximum number of extra workers."""
        extras = self.extras
        return extras[-1] if extras else 0

    @property
    def base_gpus(self) -> int:
        """Number of GPUs that the minimum workers use."""
        return self.min_workers * self.gpus_per_worker

    @property
    def has_time(self) -> bool:
        """Whether the running time with the minimum workers is known."""
        return self.time_at_min is not None or self.remaining_work is not None

    @property
    def time(self) -> Exact | None:
        """Exact running time in seconds with the minimum workers; None if only `values` are known."""
        if self.remaining_work is not None:
            return Fraction(decimal(self.remaining_work)) / self.min_workers
        return None if self.time_at_min is None else decimal(self.time_at_min)

    def allows(self, extra: int) -> bool:
        """Check whether the job may run with the given number of extra workers.

        0 is always allowed.

        Examples
        --------
        >>> job = ElasticJob(name="C", min_workers=2, counts=[2, 6], time_at_min=60)
        >>> [extra for extra in range(8) if job.allows(extra)]
        [0, 2, 6]
        """
        extras = self.extras
        place = bisect_left(extras, extra)
        return extra == 0 or (place < len(extras) and extras[place] == extra)

    def value(self, extra: int) -> Exact:
        """Return the exact time saved, in seconds, with an allowed number of extra workers.

        With proportional speed, w extra workers save T w / (w + m), where m is the minimum number of workers
        and T the running time with them (Aryl, Algorithm 2, line 18).
        """
        return whole(Fraction(*self.ratio(extra)))

    def ratio(self, extra: int) -> tuple[int, int]:
        """Return the seconds saved by an allowed number of extra workers, as a numerator and a denominator.

        The two may have common factors. Adding many such pairs is faster than adding fractions.

        Raises
        ------
        InvalidInput
            The number of extra workers is not allowed.

        Examples
        --------
        >>> ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60).ratio(2)
        (120, 4)
        """
        if extra == 0:
            return 0, 1
        if not self.allows(extra):
            raise InvalidInput(f"extra[{self.name!r}]", shorten(extra), f"must be {_menu(self)}")
        if self.values is not None:
            return decimal(self.values[bisect_left(self.extras, extra)]).as_integer_ratio()
        time = self.time or 0
        return time.numerator * extra, time.denominator * (extra + self.min_workers)


class AllocationSolution(Frozen):
    """The number of extra workers of each job, keyed by job name.

    Jobs that are left out get no extra workers.
    """

    extra: Mapping[str, int]


class Allocation(Problem[AllocationSolution]):
    """The problem of dividing the remaining GPUs among elastic jobs so that the most running time is saved.

    `capacity` is the number of GPUs to divide. The extra workers of a job take ``extra * gpus_per_worker`` of
    them. Every queued job starts, and its minimum workers take GPUs from the capacity too. If these do not fit,
    the problem is infeasible. To choose which queued jobs start, use
    `heuristics.allocation.two_phase.two_phase_allocation`.

    This is a multiple-choice knapsack. In a classic one, exactly one item of each class is chosen. To state it,
    make each class a queued job with ``time_at_min=0``, and with the weight of the lightest item as
    `min_workers`. In `counts` and `values`, state how much more the other items weigh and are worth. If the
    lightest item weighs nothing, do not queue the job; `min_workers` then has no effect. The objective excludes
    the values of the lightest items.

    Source: Aryl, section 5.2 and Appendix D, second phase of Algorithm 2. The paper prints the weight of w
    extra workers as ``(w + min_workers) * gpus_per_worker``; here, it is ``w * gpus_per_worker``.

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

    A choice among items of weights 3, 5, 9 and values 10, 25, 31:

    >>> one = ElasticJob(name="1", min_workers=3, counts=[2, 6], values=[15, 21], time_at_min=0, queued=True)
    >>> 10 + Allocation(capacity=8, jobs=[one]).objective(AllocationSolution(extra={"1": 2}))
    25
    """

    word: ClassVar[str] = "allocation"
    sense: ClassVar[Sense] = Sense.MAXIMIZE
    solution_type: ClassVar[type[Frozen]] = AllocationSolution

    problem: Literal["allocation"] = "allocation"
    capacity: Annotated[int, Field(ge=0, le=1_000_000_000)]
    jobs: Named[ElasticJob]

    @model_validator(mode="after")
    def _workers_are_given(self) -> "Allocation":
        for index, job in enumerate(self.jobs):
            if job.max_workers is None and job.counts is None:
                raise RuleBroken(f"jobs[{index}].max_workers", None, "must be given, or counts")
            if job.max_workers is not None and job.counts is not None:
                rule = "must not be given together with counts"
                raise RuleBroken(f"jobs[{index}].max_workers", job.max_workers, rule)
            if job.max_workers is not None and job.max_workers < job.min_workers:
                rule = f"must be at least min_workers, {job.min_workers}"
                raise RuleBroken(f"jobs[{index}].max_workers", job.max_workers, rule)
        return self

    @model_validator(mode="after")
    def _counts_are_valid(self) -> "Allocation":
        for index, job in enumerate(self.jobs):
            for place, (before, after) in enumerate(pairwise(job.counts or ()), start=1):
                if after <= before:
                    rule = f"must be more than the one before, {before}"
                    raise RuleBroken(f"jobs[{index}].counts[{place}]", after, rule)
        items = sum(len(job.extras) for job in self.jobs)
        if items > MOST_ITEMS:
            rule = f"must allow at most {MOST_ITEMS:,} numbers of extra workers together"
            raise RuleBroken("jobs", f"{items:,} numbers of extra workers", rule)
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
            if job.values is not None and len(job.values) != len(job.extras):
                each = "extra workers" if job.counts is None else "counts"
                rule = f"must be one for each of the {len(job.extras)} {each}"
                raise RuleBroken(f"jobs[{index}].values", f"{len(job.values)} numbers", rule)
            if job.queued and not job.has_time:
                rule = "must be given for a queued job, or remaining_work: the queue is ordered by it"
                raise RuleBroken(f"jobs[{index}].time_at_min", None, rule)
        return self

    @property
    def unit(self) -> str:
        """Unit of the objective: seconds of running time saved, summed over all jobs."""
        return "seconds saved"

    @cached_property
    def step(self) -> Fraction | None:
        """Greatest common divisor of the seconds saved by all allowed numbers of extra workers, or None.

        It is None if all these times are 0, if more than 100,000 `values` are given, or if exact numbers might
        need too many digits.
        """
        if sum(len(job.values or ()) for job in self.jobs) > _MOST_VALUES:
            return None
        proportional = [job for job in self.jobs if job.values is None and job.time and job.extras]
        steps: list[Exact] = []
        denominator = 1
        for job in proportional:
            share = _step_of_shares(job.min_workers, job.extras)
            denominator = lcm(denominator, 0 if share is None else share.denominator)
            if share is None or denominator > _LARGEST_DENOMINATOR:
                return None
            steps.append(share * (job.time or 0))
        table = _step_of_decimals(
            chain.from_iterable(job.values for job in self.jobs if job.values is not None)
        )
        return None if table is None else step([*steps, table])

    @property
    def remaining(self) -> int:
        """Number of GPUs left for extra workers after all queued jobs start; negative if they do not fit."""
        return self.capacity - sum(job.base_gpus for job in self.jobs if job.queued)

    @property
    def obstacle(self) -> str:
        """Message about the first queued job that cannot start; empty if the problem is feasible."""
        left = self.capacity
        for job in self.jobs:
            if not job.queued:
                continue
            if job.base_gpus > left:
                return f"queued job {job.name!r} needs {job.base_gpus} GPUs to start, {left} are left"
            left -= job.base_gpus
        return ""

    def used_gpus(self, solution: AllocationSolution) -> int:
        """Return the number of GPUs that the extra workers use."""
        return sum(solution.extra.get(job.name, 0) * job.gpus_per_worker for job in self.jobs)

    def objective(self, solution: AllocationSolution) -> Exact:
        """Return the total running time saved, in seconds."""
        given = ((job, solution.extra.get(job.name, 0)) for job in self.jobs)
        numerators: dict[int, int] = defaultdict(int)  # by denominator
        for numerator, denominator in (job.ratio(extra) for job, extra in given if extra):
            numerators[denominator] += numerator
        return exact_total(Fraction(total, denominator) for denominator, total in numerators.items())

    def violations(self, solution: AllocationSolution) -> list[str]:
        """Return a message for each broken rule about queued jobs, numbers of extra workers, or GPUs in use."""
        jobs = {job.name: job for job in self.jobs}
        found = [f"jobs: {self.obstacle}"] if self.obstacle else []
        found += [
            f"extra: {name!r} is not a job of the instance" for name in solution.extra if name not in jobs
        ]
        found += [
            f"extra: {name!r} gets {extra} extra workers, must be {_menu(jobs[name])}"
            for name, extra in solution.extra.items()
            if name in jobs and not jobs[name].allows(extra)
        ]
        used = self.used_gpus(solution)
        if used > max(self.remaining, 0):
            found.append(f"extra: {used} GPUs are used, {max(self.remaining, 0)} remain")
        return found

    def headline(self) -> dict[str, int | float | str]:
        """Return the number of jobs and the capacity in GPUs."""
        return {"jobs": len(self.jobs), "gpus": self.capacity}

    def measures(self, solution: AllocationSolution) -> dict[str, Number]:
        """Return the total number of extra workers and the number of idle GPUs."""
        return {
            "extra_workers": sum(solution.extra.values()),
            "idle_gpus": self.remaining - self.used_gpus(solution),
        }

    def candidates(self) -> Iterator[AllocationSolution]:
        """Yield every combination of allowed numbers of extra workers, including infeasible ones."""
        names = [job.name for job in self.jobs]
        for extra in product(*((0, *job.extras) for job in self.jobs)):
            yield AllocationSolution(extra=dict(zip(names, extra, strict=True)))


def _menu(job: ElasticJob) -> str:
    """Describe, for messages, how many extra workers a job may have."""
    return f"0 to {job.max_extra}" if job.counts is None else f"0 or one of {shorten(tuple(job.counts))}"


@lru_cache(maxsize=2**12)
def _step_of_shares(least: int, extras: Sequence[int]) -> Fraction | None:
    """Return the greatest common divisor of w / (w + least) over all numbers w of extra workers.

    Return None if its denominator is too large.
    """
    numerator, denominator = 0, 1
    for extra in extras:
        shared = gcd(extra, least)
        numerator = gcd(numerator, extra // shared)
        denominator = lcm(denominator, (extra + least) // shared)
        if denominator > _LARGEST_DENOMINATOR:
            return None
    return Fraction(numerator, denominator)


def _step_of_decimals(values: Iterable[float]) -> Fraction | None:
    """Return the greatest common divisor of the decimals, or None if they have too many digits.

    Return 0 if all decimals are 0.
    """
    import numpy as np  # for those who ask: the problem itself needs no arrays

    from gsopt.core.numbers.decimals import whole_numbers

    read = whole_numbers(np.fromiter(values, np.float64))
    return None if read is None else Fraction(int(np.gcd.reduce(read[0])), read[1])
