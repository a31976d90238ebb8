"""Resizable: jobs with linear speed-up that can be resized at any time but not preempted."""

from dataclasses import dataclass
from functools import cached_property
from math import fsum, gcd, inf, isclose

from formulations.scheduling.instance import Instance
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.problems.scheduling import Scheduling


@dataclass(frozen=True)
class Resizable:
    """The jobs, and the numbers of GPUs that each of them may have."""

    instance: Instance  # the jobs in the form that all scheduling methods use
    # least, most: GPUs of each job with its fewest and with its most workers
    least: tuple[int, ...]
    most: tuple[int, ...]
    size: tuple[int, ...]  # GPUs of one worker of each job; for an inelastic job, all its GPUs
    area: tuple[float, ...]  # work of each job in GPU-seconds

    @classmethod
    def of(cls, problem: Scheduling) -> "Resizable":
        """Read a problem, or raise `Unsupported` unless its jobs are resizable.

        Preemption must not be allowed, and there must be no fairness constraint. Each job's speed must be
        proportional to its GPUs, and it may have any number of workers between a minimum and a maximum.
        """
        _refuse(problem)
        instance = Instance.of(problem)
        counts = [tuple(mode.gpus for mode in modes) for modes in instance.modes]
        return cls(
            instance=instance,
            least=tuple(each[0] for each in counts),
            most=tuple(each[-1] for each in counts),
            size=tuple(_worker(name, each) for name, each in zip(instance.names, counts, strict=True)),
            area=tuple(map(instance.area, range(len(instance)))),
        )

    def __len__(self) -> int:
        return len(self.area)

    @cached_property
    def grid(self) -> int:
        """The greatest common divisor of all possible numbers of GPUs in use."""
        return gcd(*self.size, *self.least)

    @property
    def gpus(self) -> int:
        """The number of GPUs, rounded down to a multiple of `grid`, because no more can be in use at a time."""
        return self.instance.gpus // self.grid * self.grid

    @property
    def is_exact(self) -> bool:
        """Whether any fractional allocation of the GPUs is an average of integer numbers of workers.

        This holds if all workers of elastic jobs have the same number of GPUs, and this number divides the
        minimum of every job. The minimum of an inelastic job is all its GPUs.
        """
        return all(
            size == self.grid
            for size, least, most in zip(self.size, self.least, self.most, strict=True)
            if least < most
        )

    @cached_property
    def there(self) -> tuple[int, ...]:
        """The number of jobs released by the beginning of each period from one release date to the next."""
        return tuple(sum(date <= begin for date in self.instance.release) for begin in self.instance.arrivals)

    @cached_property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """Possible pairs of a number of complete jobs and a period, in ascending order of the number."""
        return tuple(
            (done, period)
            for done in range(len(self))
            for period, there in enumerate(self.there)
            if done <= there
        )

    def before(self, job: int, done: int, period: int) -> list[tuple[int, int]]:
        """Return the cells, up to the given one, in which a job may run."""
        return [
            cell for cell in self.cells if cell[0] <= done and cell[1] <= period and job < self.there[cell[1]]
        ]

    def length(self, period: int) -> float:
        """Return the time in seconds from a release date to the next one, or infinity for the last date."""
        begins = [*self.instance.arrivals, inf]
        return begins[period + 1] - begins[period]

    @property
    def unit(self) -> float:
        """The time in seconds in which all GPUs together do all work, which is the programs' unit of time."""
        return fsum(self.area) / self.gpus

    def shortest(self, job: int) -> float:
        """Return the time in seconds that a job takes with its maximum number of workers."""
        return self.area[job] / self.most[job]


def _refuse(problem: Scheduling) -> None:
    if problem.preemptive:
        raise Unsupported("resizing: the problem must not allow preemption")
    if problem.fairness is not None:
        raise Unsupported("resizing: fairness is not supported")
    for job in problem.jobs:
        each = [rate / gpus for gpus, rate in job.rates.items() if gpus <= problem.gpus]
        if not isclose(min(each), max(each), rel_tol=SPAN_ERROR):
            raise Unsupported(f"resizing: the speed of job {job.name!r} is not proportional to its GPUs")


def _worker(name: str, counts: tuple[int, ...]) -> int:
    """Return the number of GPUs of one worker of a job.

    Raises `Unsupported` if the job may not have every number of workers in a range.
    """
    if len(counts) == 1:
        return counts[0]
    size = counts[1] - counts[0]
    if counts != tuple(range(counts[0], counts[-1] + 1, size)):
        raise Unsupported(f"resizing: job {name!r} may not have every number of workers in a range")
    return size
