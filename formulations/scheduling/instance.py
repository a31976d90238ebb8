"""Instance: the data of a problem in the form that all exact scheduling methods use."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, inf, ulp
from typing import NamedTuple

from gsopt.core.numbers.tolerances import SPAN_ERROR, ULPS
from gsopt.problems.scheduling import Scheduling
from gsopt.schedule.retiming import ElasticTask

#: Margins of plans and of schedules before a deadline, as fractions of the billionth by which it may be missed.
_PLANNED, _KEPT = 0.5, 0.25


class SpeedMode(NamedTuple):
    """A number of GPUs on which a job may run, and the work that it does per second on them."""

    gpus: int
    rate: float


@dataclass(frozen=True)
class Instance:
    """The jobs, numbered by release date, and the GPUs, on the instance's own clock.

    All times are in seconds since the first release date. They therefore keep their precision even if the
    problem's dates are large, such as seconds since 1970.
    """

    problem: Scheduling
    gpus: int  # number of GPUs
    release: tuple[float, ...]  # release date of each job
    names: tuple[str, ...]  # name of each job
    work: tuple[float, ...]  # work of each job in its own unit
    # modes of each job in ascending order of GPUs and rate, without modes no faster than one on fewer GPUs
    modes: tuple[tuple[SpeedMode, ...], ...]
    # latest fair completion of each job, rounded up; infinite without a fairness constraint
    deadline: tuple[float, ...]

    @classmethod
    def of(cls, problem: Scheduling) -> "Instance":
        """Build the instance of a problem."""
        tasks = problem.tasks
        return cls(
            problem=problem,
            gpus=problem.gpus,
            release=tuple(float(task.release) for task in tasks),
            names=tuple(task.name for task in tasks),
            work=tuple(float(task.work) for task in tasks),
            modes=tuple(map(_useful, tasks)),
            deadline=tuple(_deadlines(problem)),
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def origin(self) -> float:
        """The first release date of the problem, at which the instance's clock begins."""
        return float(self.problem.origin)

    @cached_property
    def due(self) -> tuple[float, ...]:
        """Time by which a plan must complete each job: slightly before its deadline, because of rounding."""
        return self._before(_PLANNED)

    def _before(self, part: float) -> tuple[float, ...]:
        pairs = zip(self.deadline, self.release, strict=True)
        return tuple(time - part * SPAN_ERROR * (time - date) if time < inf else inf for time, date in pairs)

    def height(self, job: int) -> float:
        """Return the shortest time in which a job can do all its work, in seconds."""
        return self.work[job] / self.modes[job][-1].rate

    def area(self, job: int) -> float:
        """Return the minimum number of GPU-seconds that a job needs."""
        return min(mode.gpus * self.work[job] / mode.rate for mode in self.modes[job])

    def earliest(self, job: int) -> float:
        """Return the earliest time at which a job could complete if it were alone."""
        return self.release[job] + self.height(job)

    @cached_property
    def arrivals(self) -> tuple[float, ...]:
        """The distinct release dates in ascending order. The first one is 0."""
        return tuple(sorted(set(self.release)))

    @cached_property
    def released(self) -> float:
        """The sum of the release dates."""
        return fsum(self.release)

    @property
    def least_gpus(self) -> int:
        """The smallest number of GPUs on which any job may run."""
        return min(modes[0].gpus for modes in self.modes)

    def keeps_deadlines(self, completions: Sequence[float]) -> bool:
        """Check whether completion times meet the deadlines with a margin, so that the judge agrees."""
        return all(time <= due for time, due in zip(completions, self._before(_KEPT), strict=True))

    def mean_jct(self, completions: Sequence[float] | float) -> float:
        """Convert completion times, or their sum, to the mean job completion time in seconds."""
        total = completions if isinstance(completions, int | float) else fsum(completions)
        return (total - self.released) / len(self)

    def total(self, mean_jct: float) -> float:
        """Convert a mean job completion time to the sum of completion times in seconds."""
        return mean_jct * len(self) + self.released


def _deadlines(problem: Scheduling) -> list[float]:
    """Return the deadlines, rounded up; infinity if there are none."""
    if problem.deadlines is None:
        return [inf] * len(problem.jobs)
    return [time + ULPS * ulp(time) for time in map(float, problem.deadlines)]


def _useful(task: ElasticTask) -> tuple[SpeedMode, ...]:
    """Return the modes that fit, omitting modes that are no faster than one on fewer GPUs."""
    kept: list[SpeedMode] = []
    for count, rate in task.rates.items():
        if not kept or rate > kept[-1].rate:
            kept.append(SpeedMode(count, float(rate)))
    return tuple(kept)
