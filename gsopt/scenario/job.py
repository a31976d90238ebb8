"""Job and Workload: jobs that are submitted to a cluster, their release dates, and how they can run."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

from gsopt.core.numbers.clock import Clock
from gsopt.core.problem import Frozen, Gpus, Many, Name, RuleBroken, refuse_doubles, refuse_falls
from gsopt.scenario.training import Samples, Training

#: The latest time and the longest duration, in seconds: 30,000 years.
LATEST = 1e12

#: Largest absolute value of a priority, enough for the 32-bit priorities of schedulers.
MOST_PRIORITY = 10_000_000_000

#: A time since an arbitrary origin, or a duration, in seconds.
Seconds = Annotated[float, Field(ge=0, le=LATEST)]

#: Minimum duration (in seconds) and minimum speed; smaller values are unrealistic, and their quotients
#: overflow.
LEAST = 1e-9

#: A speed, relative to that of the job alone on the number of GPUs that it demands.
RelativeSpeed = Annotated[float, Field(ge=LEAST, le=1e6)]

#: A number of GPUs, and the speed of the job on that number.
Entry = Annotated[tuple[Gpus, RelativeSpeed], Field(strict=False)]


def _check_counts(menu: tuple[Entry, ...]) -> tuple[Entry, ...]:
    refuse_doubles("menu", (count for count, _ in menu), part="[0]", what="count")
    return menu


#: The numbers of GPUs on which a job may run, each with the job's speed.
Menu = Annotated[Many[Entry], AfterValidator(_check_counts)]

#: Bytes of memory that a job needs on each of its GPUs.
Bytes = Annotated[int, Field(ge=0)]

#: A factor by which an iteration takes longer than at full speed; at least 1.
Slowdown = Annotated[float, Field(ge=1, le=1e6)]

#: Name of the mode with the job's own menu, memory and batch size.
DEFAULT_MODE = ""


class Mode(Frozen):
    """An alternative way to run a job: with another batch size, in sub-batches, or on another GPU type.

    Attributes
    ----------
    name
        Name of the mode, unique in its job.
    menu
        Allowed numbers of GPUs in this mode, each with its speed. A speed of 1 is the job's speed in its
        default mode on the number of GPUs that it demands.
    memory
        Bytes of memory that the job needs on each of its GPUs; None for the same as in the default mode.
    batch_size
        Samples per iteration over all GPUs; None for the same as in the default mode, or if `tunes` is True.
    steps
        Number of sub-batches into which the batch is divided; their gradients are accumulated.
    samples
        Samples until the target if the job always runs in this mode; None for the same as in the default mode.
    gpu_type
        The only GPU type on which the job may run in this mode; empty for any type, None for the type required
        in the default mode.
    tunes
        Whether the job keeps choosing its own batch size, which only adaptive jobs can do
        (`gsopt.scenario.scenario.Physics.applications`).

    Examples
    --------
    >>> Mode(name="halves", menu=[(2, 0.9)], memory=6 * 2**30, steps=2).menu
    ((2, 0.9),)
    """

    name: Name
    menu: Annotated[Menu, Field(min_length=1)]
    memory: Bytes | None = None
    batch_size: Annotated[int, Field(ge=1)] | None = None
    steps: Annotated[int, Field(ge=1)] = 1
    samples: Samples | None = None
    gpu_type: str | None = None
    tunes: bool = False

    @model_validator(mode="after")
    def _tuned_or_fixed(self) -> "Mode":
        if self.tunes and self.batch_size is not None:
            raise RuleBroken("batch_size", self.batch_size, "must be None in a mode that tunes it")
        return self


class Phase(Frozen):
    """A part of a job's work, with the factor by which the job runs more slowly than its menus say.

    Attributes
    ----------
    until
        Fraction of the job's work at which the phase ends, above 0 and at most 1. The phase begins where the
        previous one ends.
    slowdown
        Factor by which the work of this phase takes longer; at least 1.
    modes
        Slowdowns that replace `slowdown` in individual modes, keyed by the mode's name. The default mode has
        the empty name.

    Examples
    --------
    >>> early = Phase(until=0.25, slowdown=2.0, modes={"large batch": 3.0})
    >>> early.slowdown_in("large batch"), early.slowdown_in("")
    (3.0, 2.0)
    """

    until: Annotated[float, Field(gt=0, le=1)]
    slowdown: Slowdown = 1.0
    modes: Mapping[str, Slowdown] = Field(default_factory=dict)

    def slowdown_in(self, mode: str) -> float:
        """Return the slowdown in the given mode."""
        return self.modes.get(mode, self.slowdown)


class Job(Frozen):
    """A training job, which runs on all its GPUs at once or not at all.

    Work is measured in seconds at speed 1. This is the job's speed in its default mode on the number of GPUs
    that it demands, without slowdowns (`gsopt.scenario.speed.Speed`). Methods raise `KeyError` for an unknown
    mode or a number of GPUs that the mode does not allow.

    Attributes
    ----------
    name
        Name of the job, unique in its workload.
    release_date
        Time at which the job is submitted, in seconds from an arbitrary origin.
    duration
        Run time at speed 1, in seconds; at least a nanosecond.
    gpus
        Number of GPUs that the job demands.
    menu
        Allowed numbers of GPUs, each with its speed, including `gpus` at speed 1; if empty, only `gpus`.
    model
        Name of the trained model, for looking up slowdowns and overheads; empty if unknown.
    memory
        Bytes of memory that the job needs on each of its GPUs; None if unknown.
    batch_size
        Samples per iteration over all GPUs; None if unknown.
    gpu_type
        The only GPU type on which the job may run in its default mode; empty for any type.
    modes
        Other ways to run the job. The job's own menu, memory, batch size and GPU type form its default mode,
        whose name is empty.
    phases
        Parts of the work, in order, each with its slowdown; the last must end at 1.
    training
        Number of samples until the job reaches its target, and the loss and accuracy that it shows; None if
        unknown. Doing x % of the work takes x % of the samples that the job needs in its current mode.
    deadline
        Time by which the job should complete, in seconds from the same origin, and later than the release
        date; None for no deadline. A job that misses its deadline continues.
    estimate
        The user's estimate of the duration in seconds, such as a time limit, for backfilling policies; None if
        unknown. A job that exceeds its estimate continues.
    checkpoints
        Whether the job keeps its progress when it stops or is evicted; otherwise, it starts from scratch. A
        stop followed by a start at the same moment is a resize or move, which by itself costs no progress. What
        a job loses if its machine leaves without notice is stated by `gsopt.scenario.events.Leave`.
    priority
        Priority of the job, higher if more important. Only some policies use it.

    Examples
    --------
    >>> Job(name="a", release_date=0, duration=3600, gpus=4).gpu_seconds
    14400.0
    >>> elastic = Job(name="b", release_date=0, duration=60, gpus=2, menu=[(1, 0.6), (2, 1.0), (4, 1.5)])
    >>> elastic.counts, elastic.speed(4)
    ((1, 2, 4), 1.5)
    >>> halves = Mode(name="halves", menu=[(1, 0.9)], memory=6, steps=2)
    >>> divided = Job(name="c", release_date=0, duration=60, gpus=1, memory=10, modes=[halves])
    >>> divided.speeds, divided.memory_in("halves")
    ({'': {1: 1.0}, 'halves': {1: 0.9}}, 6)
    >>> slower = Mode(name="on inference GPUs", menu=[(4, 1.0)], gpu_type="T4")
    >>> either = Job(name="d", release_date=0, duration=60, gpus=4, gpu_type="V100", modes=[slower])
    >>> either.gpu_type_in(), either.gpu_type_in("on inference GPUs")
    ('V100', 'T4')
    >>> large = Mode(name="large", menu=[(1, 1.5)], batch_size=64, samples=9000)
    >>> training = Training(epoch=1000, samples=6000)
    >>> trained = Job(name="d", release_date=0, duration=60, gpus=1, modes=[large], training=training)
    >>> trained.samples_in(""), trained.throughput(1), trained.throughput(1, "large")
    (6000.0, 100.0, 225.0)
    """

    name: Name
    release_date: Seconds
    duration: Annotated[Seconds, Field(ge=LEAST)]
    gpus: Gpus
    menu: Menu = ()
    model: str = ""
    memory: Bytes | None = None
    batch_size: Annotated[int, Field(ge=1)] | None = None
    gpu_type: str = ""
    modes: Many[Mode] = ()
    phases: Many[Phase] = ()
    training: Training | None = None
    deadline: Seconds | None = None
    estimate: Annotated[Seconds, Field(ge=LEAST)] | None = None
    checkpoints: bool = True
    priority: Annotated[int, Field(ge=-MOST_PRIORITY, le=MOST_PRIORITY)] = 0

    @field_validator("modes", mode="after")
    @classmethod
    def _mode_names_differ(cls, modes: tuple[Mode, ...]) -> tuple[Mode, ...]:
        refuse_doubles("modes", (mode.name for mode in modes))
        return modes

    @field_validator("phases", mode="after")
    @classmethod
    def _phases_rise_to_one(cls, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        refuse_falls("phases[{}].until", [phase.until for phase in phases])
        if phases and phases[-1].until != 1:
            raise RuleBroken(
                f"phases[{len(phases) - 1}].until", phases[-1].until, "must be 1 in the last phase"
            )
        return phases

    @model_validator(mode="after")
    def _phases_name_modes(self) -> "Job":
        for index, phase in enumerate(self.phases):
            for name in phase.modes:
                if name not in {DEFAULT_MODE, *(mode.name for mode in self.modes)}:
                    raise RuleBroken(f"phases[{index}].modes", name, "must be a mode of the job")
        return self

    @model_validator(mode="after")
    def _deadline_after_release(self) -> "Job":
        if self.deadline is not None and self.deadline <= self.release_date:
            rule = f"must be later than {self.release_date:g}, the release"
            raise RuleBroken("deadline", self.deadline, rule)
        return self

    @model_validator(mode="after")
    def _menu_has_the_demand_at_speed_one(self) -> "Job":
        if self.menu and (self.gpus, 1.0) not in self.menu:
            raise RuleBroken("menu", self.menu, f"must hold the demanded {self.gpus} GPUs at speed 1")
        return self

    @model_validator(mode="after")
    def _samples_need_a_training(self) -> "Job":
        if self.training is None:
            for index, mode in enumerate(self.modes):
                if mode.samples is not None:
                    rule = "must be None, as the job's training is"
                    raise RuleBroken(f"modes[{index}].samples", mode.samples, rule)
        return self

    @property
    def gpu_seconds(self) -> float:
        """GPU time of the job on the GPUs that it demands, in GPU-seconds."""
        return self.duration * self.gpus

    @property
    def counts(self) -> tuple[int, ...]:
        """Allowed numbers of GPUs in the default mode, in ascending order."""
        return tuple(sorted(count for count, _ in self.menu)) or (self.gpus,)

    @cached_property
    def speeds(self) -> Mapping[str, Mapping[int, float]]:
        """Speeds that the menus state, without any slowdowns, keyed by mode and number of GPUs."""
        menus = {mode.name: mode.menu for mode in self.modes}
        return {
            name: dict(menu) for name, menu in ({DEFAULT_MODE: self.menu or [(self.gpus, 1.0)]} | menus).items()
        }

    def speed(self, count: int, mode: str = DEFAULT_MODE) -> float:
        """Return the speed that the menu of a mode states for `count` GPUs, without any slowdowns."""
        return 1.0 if count == self.gpus and mode == DEFAULT_MODE else self.speeds[mode][count]

    def memory_in(self, mode: str = DEFAULT_MODE) -> int | None:
        """Return the bytes of memory that a mode needs on each GPU, or None if unknown."""
        if mode == DEFAULT_MODE:
            return self.memory
        own = self._by_name[mode].memory
        return self.memory if own is None else own

    def gpu_type_in(self, mode: str = DEFAULT_MODE) -> str:
        """Return the only GPU type on which the job may run in a mode, or an empty string for any type."""
        if mode == DEFAULT_MODE:
            return self.gpu_type
        own = self._by_name[mode].gpu_type
        return self.gpu_type if own is None else own

    def samples_in(self, mode: str = DEFAULT_MODE) -> float:
        """Return how many samples the job needs if it always runs in `mode`; 0 if `training` is None."""
        if self.training is None:
            return 0.0
        own = None if mode == DEFAULT_MODE else self._by_name[mode].samples
        return self.training.samples if own is None else own

    def batch_in(self, mode: str = DEFAULT_MODE) -> int | None:
        """Return the batch size in a mode, in samples, or None if it is unknown or the job tunes it."""
        if mode == DEFAULT_MODE:
            return self.batch_size
        own = self._by_name[mode]
        return self.batch_size if own.batch_size is None and not own.tunes else own.batch_size

    def tunes_in(self, mode: str = DEFAULT_MODE) -> bool:
        """Check whether the job chooses its own batch size in a mode."""
        return mode != DEFAULT_MODE and self._by_name[mode].tunes

    def throughput(self, count: int, mode: str = DEFAULT_MODE) -> float:
        """Return the samples per second at the speed that the menu states, or 0 if `training` is None."""
        return self.speed(count, mode) * self.samples_in(mode) / self.duration

    @cached_property
    def _by_name(self) -> Mapping[str, Mode]:
        return {mode.name: mode for mode in self.modes}


class Workload(Frozen):
    """The jobs to run, sorted by release date. Jobs with equal release dates keep their given order.

    Attributes
    ----------
    name
        Name of the workload.
    source
        Origin of the jobs.
    jobs
        The jobs, in ascending order of their release dates.

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

    def since(self, clock: Clock) -> "Workload":
        """Return the workload with release dates and deadlines relative to the origin of a clock."""
        if not clock.origin:
            return self
        jobs = []
        for job in self.jobs:
            dates = {"release_date": job.release_date, "deadline": job.deadline}
            moved = {name: None if date is None else clock.since(date) for name, date in dates.items()}
            jobs.append(job.model_copy(update=moved))
        return self.model_copy(update={"jobs": tuple(jobs)})

    @property
    def gpu_hours(self) -> float:
        """GPU time of all jobs, in GPU-hours."""
        return sum(job.gpu_seconds for job in self.jobs) / 3600
