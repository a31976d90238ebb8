"""Groups: the items of all jobs as flat arrays, the form that the exact algorithms work on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsopt.errors import Unsupported
from gsopt.problem import Number
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from gsopt.result import Result

Integers = NDArray[np.int64]

#: Floats, or Python integers of any size where arithmetic is exact.
Numbers = NDArray[Any]

#: Binary digits of the common denominator up to which exact arithmetic is offered.
_LONGEST_DENOMINATOR = 20_000


@dataclass(frozen=True, eq=False)
class Groups:
    """One group of items per job; item w of a job stands for w extra workers, item 0 for none.

    Attributes
    ----------
    capacity
        GPUs to share, in units of the greatest common divisor of the worker sizes.
    size
        GPUs per worker in the same unit, shape (jobs,).
    first
        Where the items of each job begin, and at the end their number, shape (jobs + 1,); extra workers beyond
        the capacity are left out.
    job, extra, weight
        Job, number of extra workers and GPUs of each item, shape (items,).
    value
        Reduction of the running time per item, shape (items,).
    exact
        The same values as integers over `denominator`, shape (items,); None unless asked for.
    denominator
        Common denominator of the exact values.
    """

    capacity: int
    size: Integers
    first: Integers
    job: Integers
    extra: Integers
    weight: Integers
    value: NDArray[np.float64]
    exact: Numbers | None = None
    denominator: int = 1

    @classmethod
    def of(cls, problem: Allocation, *, exact_arithmetic: bool = False) -> "Groups":
        """Lay out the items of a problem whose queued jobs can all start.

        Raises
        ------
        Unsupported
            Exact arithmetic is asked for, and the common denominator of the values is too long.

        Examples
        --------
        >>> from gsopt.problems.allocation import ElasticJob
        >>> job = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=2, time_at_min=60)
        >>> groups = Groups.of(Allocation(capacity=7, jobs=[job]))
        >>> groups.capacity, groups.size.tolist(), groups.value.tolist()
        (3, [1], [0.0, 20.0, 30.0, 36.0])
        """
        jobs = problem.jobs
        rows = np.array(
            [(job.min_workers, job.max_workers, job.gpus_per_worker) for job in jobs], dtype=np.int64
        )
        least, most, size = rows.reshape(-1, 3).T
        unit = int(np.gcd.reduce(size)) or 1
        size, capacity = size // unit, problem.remaining // unit
        items = np.minimum(most - least, capacity // size) + 1
        first = np.concatenate(([0], np.cumsum(items)))
        job = np.repeat(np.arange(size.size), items)
        extra = np.arange(job.size) - first[job]
        exact, denominator = _exact_values(jobs, items) if exact_arithmetic else (None, 1)
        return cls(
            capacity=capacity,
            size=size,
            first=first,
            job=job,
            extra=extra,
            weight=extra * size[job],
            value=_values(jobs, first, extra, least[job]),
            exact=exact,
            denominator=denominator,
        )

    @property
    def numbers(self) -> Numbers:
        """The values to compute with: exact ones if there are any."""
        return self.value if self.exact is None else self.exact

    def total(self, counts: Integers) -> Any:
        """Add up, in the units of `numbers`, what a number of extra workers per job is worth, shape (jobs,)."""
        return self.numbers[self.first[:-1] + counts].sum()

    def in_seconds(self, total: Any) -> Number:
        """Turn a total of `numbers` into seconds."""
        return float(total) if self.exact is None else Fraction(total, self.denominator)


#: What an algorithm gives: extra workers per job, the bound it proves (in the units of `numbers`), and how.
Found = tuple[Integers, Any, str]


def solved(
    problem: Allocation, method: str, algorithm: Callable[[Groups], Found], *, exact_arithmetic: bool
) -> Result[AllocationSolution]:
    """Run an exact algorithm on the groups of a problem and judge what it finds."""
    begin = perf_counter()
    if problem.obstacle:
        return infeasible(problem, method, perf_counter() - begin)
    groups = Groups.of(problem, exact_arithmetic=exact_arithmetic)
    counts, bound, message = algorithm(groups)
    chosen = zip(problem.jobs, counts.tolist(), strict=True)
    solution = AllocationSolution(extra={job.name: count for job, count in chosen if count})
    runtime = perf_counter() - begin
    return Result.judged(
        problem,
        method=method,
        solution=solution,
        bound=groups.in_seconds(bound),
        runtime=runtime,
        solver=message.partition(":")[0],  # the technique: no code agrees with itself
        message=message,
    )


def infeasible(problem: Allocation, method: str, runtime: float) -> Result[AllocationSolution]:
    """Report that the queued jobs cannot all start, naming the first that cannot."""
    return Result.judged(problem, method=method, infeasible=True, runtime=runtime, message=problem.obstacle)


def _values(
    jobs: Sequence[ElasticJob], first: Integers, extra: Integers, least: Integers
) -> NDArray[np.float64]:
    times = [
        job.time_at_min if job.remaining_work is None else job.remaining_work / job.min_workers for job in jobs
    ]
    time = np.array([0.0 if known is None else known for known in times])
    value: NDArray[np.float64] = np.repeat(time, np.diff(first)) * extra / (extra + least)
    for job, begin, end in zip(jobs, first[:-1].tolist(), first[1:].tolist(), strict=True):
        if job.values is not None:
            value[begin + 1 : end] = job.values[: end - begin - 1]
    return value


def _exact_values(jobs: Sequence[ElasticJob], items: Integers) -> tuple[Numbers, int]:
    """Give every value as an integer over the denominator of the data times that of the shares w / (w + m)."""
    given: list[list[Fraction]] = []
    counts: set[int] = set()
    for job, several in zip(jobs, items.tolist(), strict=True):
        if job.values is not None:
            given.append([Fraction(value) for value in job.values[: several - 1]])
        else:
            given.append([job.time or Fraction(0)])
            counts.update(range(job.min_workers + 1, job.min_workers + several))
    data = lcm(*{number.denominator for numbers in given for number in numbers})
    shares = lcm(*counts)
    if data.bit_length() + shares.bit_length() > _LONGEST_DENOMINATOR:
        raise Unsupported(
            "exact arithmetic: so many different numbers of workers have no short common denominator"
        )
    share_of = {count: shares // count for count in counts}
    exact: list[int] = []
    for job, numbers, several in zip(jobs, given, items.tolist(), strict=True):
        whole = [number.numerator * (data // number.denominator) for number in numbers]
        exact.append(0)
        if job.values is not None:
            exact += [number * shares for number in whole]
        else:
            exact += [whole[0] * w * share_of[job.min_workers + w] for w in range(1, several)]
    return np.array(exact, dtype=object), data * shares
