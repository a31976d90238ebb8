"""Job and Workload: what is submitted to a cluster, and when."""

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from gsopt.problem import Frozen, Gpus, Many, Name, RuleBroken, refuse_doubles

#: Seconds on the clock of a workload.
Seconds = Annotated[float, Field(ge=0, le=1e12)]

#: Speed relative to the job alone on its demanded GPUs.
RelativeSpeed = Annotated[float, Field(gt=0, le=1e6)]

#: A number of GPUs and the speed of the job on them.
Entry = Annotated[tuple[Gpus, RelativeSpeed], Field(strict=False)]


class Job(Frozen):
    """A training job: it runs on all its GPUs at once, or not at all.

    Its work is measured in seconds at speed 1, the speed at which it runs alone on the GPUs that it demands.

    Attributes
    ----------
    name
        Name of the job, unique in its workload.
    release_date
        Seconds from the beginning of the workload until the job is submitted.
    duration
        Seconds that the job runs alone on the GPUs it demands; more than 0.
    gpus
        Number of GPUs that it demands.
    menu
        Every number of GPUs on which it may run, with its speed there; only `gpus` at speed 1 when empty.
    model
        What is trained, by which slowdowns and overheads are looked up; empty when unknown.
    memory
        Bytes that it needs on each of its GPUs; None when unknown.
    batch_size
        Samples per iteration over all GPUs; None when unknown.
    gpu_type
        The only type of GPU on which it may run; empty for any.

    Examples
    --------
    >>> Job(name="a", release_date=0, duration=3600, gpus=4).gpu_seconds
    14400.0
    >>> elastic = Job(name="b", release_date=0, duration=60, gpus=2, menu=[(1, 0.6), (2, 1.0), (4, 1.5)])
    >>> elastic.counts, elastic.speed(4)
    ((1, 2, 4), 1.5)
    """

    name: Name
    release_date: Seconds
    duration: Annotated[Seconds, Field(gt=0)]
    gpus: Gpus
    menu: Many[Entry] = ()
    model: str = ""
    memory: Annotated[int, Field(ge=0)] | None = None
    batch_size: Annotated[int, Field(ge=1)] | None = None
    gpu_type: str = ""

    @model_validator(mode="after")
    def _menu_counts_differ(self) -> "Job":
        counts = [count for count, _ in self.menu]
        for index, count in enumerate(counts):
            if count in counts[:index]:
                raise RuleBroken(f"menu[{index}][0]", count, "must differ from every other count")
        return self

    @model_validator(mode="after")
    def _menu_has_the_demand_at_speed_one(self) -> "Job":
        if self.menu and (self.gpus, 1.0) not in self.menu:
            raise RuleBroken("menu", self.menu, f"must hold the demanded {self.gpus} GPUs at speed 1")
        return self

    @property
    def gpu_seconds(self) -> float:
        """GPU time of the job on the GPUs that it demands, in GPU-seconds."""
        return self.duration * self.gpus

    @property
    def counts(self) -> tuple[int, ...]:
        """Every number of GPUs on which the job may run, ascending."""
        return tuple(sorted(count for count, _ in self.menu)) or (self.gpus,)

    def speed(self, count: int) -> float:
        """Give the speed on an allowed number of GPUs of one machine, alone.

        Raises
        ------
        KeyError
            The job may not run on that number of GPUs.
        """
        return dict(self.menu)[count] if self.menu else {self.gpus: 1.0}[count]


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
        refuse_doubles("jobs", (job.name for job in jobs))
        return jobs

    @field_validator("jobs", mode="after")
    @classmethod
    def _by_release_date(cls, jobs: tuple[Job, ...]) -> tuple[Job, ...]:
        return tuple(sorted(jobs, key=lambda job: job.release_date))

    @property
    def gpu_hours(self) -> float:
        """GPU time of all jobs, in GPU-hours."""
        return sum(job.gpu_seconds for job in self.jobs) / 3600
