"""Job and Workload: what is submitted to a cluster, and when."""

from typing import Annotated

from pydantic import Field, field_validator

from gsopt.problem import Frozen, Gpus, Many, Name, RuleBroken

#: Seconds on the clock of a workload.
Seconds = Annotated[float, Field(ge=0, le=1e12)]


class Job(Frozen):
    """A rigid training job: it runs on all its GPUs at once, or not at all.

    Attributes
    ----------
    name
        Name of the job, unique in its workload.
    release_date
        Seconds from the beginning of the workload until the job is submitted.
    duration
        Seconds that the job runs once it has its GPUs; more than 0.
    gpus
        Number of GPUs.

    Examples
    --------
    >>> Job(name="a", release_date=0, duration=3600, gpus=4).gpu_seconds
    14400.0
    """

    name: Name
    release_date: Seconds
    duration: Annotated[Seconds, Field(gt=0)]
    gpus: Gpus

    @property
    def gpu_seconds(self) -> float:
        """GPU time of the job, in GPU-seconds."""
        return self.duration * self.gpus


class Workload(Frozen):
    """Jobs in the order of their release dates; given in any order, they are sorted.

    Jobs with equal release dates keep the order in which they were given.

    Attributes
    ----------
    name
        Name of the workload.
    source
        Where it comes from.
    jobs
        The jobs, by release date.

    Examples
    --------
    >>> late = Job(name="late", release_date=60, duration=3600, gpus=1)
    >>> early = Job(name="early", release_date=0, duration=1800, gpus=8)
    >>> workload = Workload(name="two jobs", jobs=[late, early])
    >>> [job.name for job in workload.jobs], workload.gpu_hours
    (['early', 'late'], 5.0)
    """

    name: str = ""
    source: str = ""
    jobs: Many[Job]

    @field_validator("jobs", mode="after")
    @classmethod
    def _names_differ(cls, jobs: tuple[Job, ...]) -> tuple[Job, ...]:
        seen: set[str] = set()
        for index, job in enumerate(jobs):
            if job.name in seen:
                raise RuleBroken(f"jobs[{index}].name", job.name, "must differ from every other name")
            seen.add(job.name)
        return jobs

    @field_validator("jobs", mode="after")
    @classmethod
    def _by_release_date(cls, jobs: tuple[Job, ...]) -> tuple[Job, ...]:
        return tuple(sorted(jobs, key=lambda job: job.release_date))

    @property
    def gpu_hours(self) -> float:
        """GPU time of all jobs, in GPU-hours."""
        return sum(job.gpu_seconds for job in self.jobs) / 3600
