"""Instance: the data of a problem as every exact method of scheduling reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import NamedTuple

from gsopt.clock import clock_error
from gsopt.fairness import gps_finish_times
from gsopt.problems.scheduling import ElasticJob, Scheduling


class Mode(NamedTuple):
    """A number of GPUs and the work per second on them."""

    gpus: int
    rate: float


@dataclass(frozen=True)
class Instance:
    """Jobs by number in the order of their release dates, and the GPUs.

    Attributes
    ----------
    gpus
        Number of GPUs.
    names
        Name of each job.
    release
        Release date of each job in seconds.
    work
        Work of each job in its own unit.
    modes
        Modes of each job by rising GPUs and rate; modes no faster than one on fewer GPUs are left out.
    deadline
        Latest completion of each job that is fair, in seconds; infinite without a constraint.

    Examples
    --------
    >>> job = ElasticJob(name="a", release=1, work=8, rates={1: 1.0, 2: 1.0, 4: 2.0})
    >>> instance = Instance.of(Scheduling(gpus=4, jobs=[job]))
    >>> instance.modes[0], instance.height(0), instance.area(0)
    ((Mode(gpus=1, rate=1.0), Mode(gpus=4, rate=2.0)), 4.0, 8.0)
    """

    gpus: int
    names: tuple[str, ...]
    release: tuple[float, ...]
    work: tuple[float, ...]
    modes: tuple[tuple[Mode, ...], ...]
    deadline: tuple[float, ...]

    @classmethod
    def of(cls, problem: Scheduling) -> "Instance":
        """Read a problem."""
        jobs = sorted(problem.jobs, key=lambda job: job.release)
        due = [inf] * len(jobs)
        if problem.fairness is not None:
            fair = gps_finish_times(problem.workload, problem.gpus)
            due = [_due(job, time + problem.fairness) for job, time in zip(jobs, fair, strict=True)]
        return cls(
            gpus=problem.gpus,
            names=tuple(job.name for job in jobs),
            release=tuple(job.release for job in jobs),
            work=tuple(job.work for job in jobs),
            modes=tuple(_useful(job, problem.gpus) for job in jobs),
            deadline=tuple(due),
        )

    def __len__(self) -> int:
        return len(self.names)

    def height(self, job: int) -> float:
        """Least seconds in which a job can be done."""
        return self.work[job] / self.modes[job][-1].rate

    def area(self, job: int) -> float:
        """Least GPU-seconds with which a job can be done."""
        return min(mode.gpus * self.work[job] / mode.rate for mode in self.modes[job])

    def earliest(self, job: int) -> float:
        """Earliest completion of a job, as if it were alone."""
        return self.release[job] + self.height(job)

    @cached_property
    def arrivals(self) -> tuple[float, ...]:
        """The distinct release dates, ascending."""
        return tuple(sorted(set(self.release)))

    @property
    def least_gpus(self) -> int:
        """Fewest GPUs on which any job may run."""
        return min(modes[0].gpus for modes in self.modes)

    def mean_jct(self, completions: Sequence[float] | float) -> float:
        """Turn completion times, or their sum, into the mean job completion time."""
        total = completions if isinstance(completions, int | float) else sum(completions)
        return (total - sum(self.release)) / len(self)


def _due(job: ElasticJob, deadline: float) -> float:
    """Give the time until which rounding may miss a deadline: half of what the judge excuses."""
    return deadline + clock_error(deadline, deadline - job.release) / 2


def _useful(job: ElasticJob, gpus: int) -> tuple[Mode, ...]:
    """Give the modes that fit, without those no faster than one on fewer GPUs."""
    kept: list[Mode] = []
    for count, rate in sorted(job.rates.items()):
        if count <= gpus and (not kept or rate > kept[-1].rate):
            kept.append(Mode(count, rate))
    return tuple(kept)
