"""Instance: the data of a problem as every exact method of scheduling reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, inf
from typing import NamedTuple

from gsopt.clock import clock_error
from gsopt.job import Workload
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.schedule.fairness import gps_finish_times

#: Part of what the judge excuses of a missed deadline; less than what `Instance.deadline` leaves of it.
_EXCUSED = 0.2


class Mode(NamedTuple):
    """A number of GPUs and the work per second on them."""

    gpus: int
    rate: float


@dataclass(frozen=True)
class Instance:
    """Jobs by number in the order of their release dates, and the GPUs, on a clock of their own.

    All times but the `dates` count from the first release date, in seconds: what happens within an hour keeps
    its digits though that hour is counted from 1970.

    Attributes
    ----------
    gpus
        Number of GPUs.
    dates
        Release date of each job on the problem's clock.
    names
        Name of each job.
    work
        Work of each job in its own unit.
    modes
        Modes of each job by rising GPUs and rate; modes no faster than one on fewer GPUs are left out.
    deadline
        Latest completion of each job that is fair; infinite without a constraint.

    Examples
    --------
    >>> job = ElasticJob(name="a", release=1, work=8, rates={1: 1.0, 2: 1.0, 4: 2.0})
    >>> instance = Instance.of(Scheduling(gpus=4, jobs=[job]))
    >>> instance.modes[0], instance.height(0), instance.area(0)
    ((Mode(gpus=1, rate=1.0), Mode(gpus=4, rate=2.0)), 4.0, 8.0)
    >>> instance.origin, instance.release
    (1.0, (0.0,))
    """

    gpus: int
    dates: tuple[float, ...]
    names: tuple[str, ...]
    work: tuple[float, ...]
    modes: tuple[tuple[Mode, ...], ...]
    deadline: tuple[float, ...]

    @classmethod
    def of(cls, problem: Scheduling) -> "Instance":
        """Read a problem."""
        jobs = sorted(problem.jobs, key=lambda job: job.release)
        dates = tuple(job.release for job in jobs)
        return cls(
            gpus=problem.gpus,
            dates=dates,
            names=tuple(job.name for job in jobs),
            work=tuple(job.work for job in jobs),
            modes=tuple(_useful(job, problem.gpus) for job in jobs),
            deadline=tuple(_deadlines(problem, dates)),
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def origin(self) -> float:
        """First release date of the problem, at which the instance's clock begins."""
        return self.dates[0]

    @cached_property
    def release(self) -> tuple[float, ...]:
        """Release date of each job."""
        return tuple(date - self.origin for date in self.dates)

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
        """The distinct release dates, ascending; the first is 0."""
        return tuple(sorted(set(self.release)))

    @cached_property
    def released(self) -> float:
        """Sum of the release dates."""
        return fsum(self.release)

    @property
    def least_gpus(self) -> int:
        """Fewest GPUs on which any job may run."""
        return min(modes[0].gpus for modes in self.modes)

    def keeps_deadlines(self, completions: Sequence[float]) -> bool:
        """Tell whether completion times keep the deadlines, as far as the problem's clock can tell."""
        rows = zip(completions, self.deadline, self.release, strict=True)
        return max(self.deadline) == inf or all(
            time <= due + _EXCUSED * clock_error(self.origin + time, due - begin) for time, due, begin in rows
        )

    def mean_jct(self, completions: Sequence[float] | float) -> float:
        """Turn completion times, or their sum, into the mean job completion time."""
        total = completions if isinstance(completions, int | float) else fsum(completions)
        return (total - self.released) / len(self)

    def total(self, mean_jct: float) -> float:
        """Turn a mean job completion time into the sum of completion times."""
        return mean_jct * len(self) + self.released


def own_clock(workload: Workload) -> Workload:
    """Give a workload with release dates that count from the first one.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> dates = [("a", 1_700_000_000), ("b", 1_700_000_009)]
    >>> jobs = [Job(name=name, release_date=date, duration=1, gpus=1) for name, date in dates]
    >>> [job.release_date for job in own_clock(Workload(jobs=jobs)).jobs]
    [0.0, 9.0]
    """
    jobs = workload.jobs
    origin = jobs[0].release_date if jobs else 0.0
    moved = tuple(job.model_copy(update={"release_date": job.release_date - origin}) for job in jobs)
    return workload.model_copy(update={"jobs": moved})


def _deadlines(problem: Scheduling, dates: Sequence[float]) -> list[float]:
    """Give the times until which rounding may miss the deadlines: half of what the judge excuses."""
    if problem.fairness is None:
        return [inf] * len(dates)
    origin, fair = dates[0], gps_finish_times(own_clock(problem.workload), problem.gpus)
    due = [time + problem.fairness for time in fair]
    spans = [origin + time - date for time, date in zip(due, dates, strict=True)]
    return [time + clock_error(origin + time, span) / 2 for time, span in zip(due, spans, strict=True)]


def _useful(job: ElasticJob, gpus: int) -> tuple[Mode, ...]:
    """Give the modes that fit, without those no faster than one on fewer GPUs."""
    kept: list[Mode] = []
    for count, rate in sorted(job.rates.items()):
        if count <= gpus and (not kept or rate > kept[-1].rate):
            kept.append(Mode(count, rate))
    return tuple(kept)
