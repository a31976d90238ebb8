"""Scenario: everything that is known about a workload and a cluster before any decision is made."""

from collections.abc import Iterator, Mapping
from functools import cache
from math import fsum
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import Field, ValidationError, field_validator, model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error
from gsopt.core.numbers.clock import Clock
from gsopt.core.numbers.grid import decimal
from gsopt.core.problem import Frozen, Many, Name, RuleBroken, refuse_falls
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.events import Event, Reclaim, Return, refuse_impossible
from gsopt.scenario.job import DEFAULT_MODE, LATEST, Job, Seconds, Workload
from gsopt.scenario.speed import Speed, require_levels


class Overhead(Frozen):
    """The times, in seconds, for which a job holds its GPUs without making progress, by kind of decision.

    Attributes
    ----------
    start
        Seconds after every start.
    stop
        Seconds for every stop, for example to write a checkpoint. They are spent at the job's next start, so
        that a stop frees the GPUs at once.
    resize
        Seconds after every resize, move or change of mode; `Physics.restarts` may exempt some of them.

    Examples
    --------
    >>> Overhead(start=4.0, resize=2.0).stop
    0.0
    """

    start: Seconds = 0.0
    stop: Seconds = 0.0
    resize: Seconds = 0.0


class CapacityChange(Frozen):
    """A capacity change: from `time` (in seconds) until the next one, only the first `gpus` GPUs are available.

    Jobs that lose a GPU return to the queue; they keep their progress if they have checkpoints. In a plain
    cluster, the jobs that started last lose their GPUs.

    Examples
    --------
    >>> CapacityChange(time=3600, gpus=48).gpus
    48
    """

    time: Seconds
    gpus: Annotated[int, Field(ge=0, le=10_000_000)]


#: A capacity change or an event.
Dated = TypeVar("Dated", bound=CapacityChange | Event)

NO_OVERHEAD = Overhead()

#: Seconds to stop and relaunch a job, keyed by model, with the models' names in the paper and in Sia's
#: workloads: 4 s for ResNet-50, 8 s for ResNet-18, 4 s for YOLOv3, 73 s for BERT, 1 s for DeepSpeech2; NeuMF
#: was never preempted. A resize also stops and relaunches the job; the first launch counts as part of the job.
#: Source: Ares, section 5.2.
RELAUNCH_OVERHEADS: Mapping[str, Overhead] = {
    name: Overhead(stop=seconds, resize=seconds)
    for names, seconds in [
        (("resnet50", "imagenet"), 4.0),
        (("resnet18", "cifar10"), 8.0),
        (("yolov3",), 4.0),
        (("bert",), 73.0),
        (("deepspeech2",), 1.0),
        (("neumf", "ncf"), 0.0),
    ]
    for name in names
}


class Physics(Frozen):
    """The rules by which workloads run on clusters.

    All fields can be passed by name to `simulate`, `compare_policies` and `judge`, and can be set in studies
    and on the command line. Shared GPUs, `applications`, and values of `restarts` other than ``"change"``
    require a cluster with machines.

    Attributes
    ----------
    speed
        Slowdowns due to the network tier, to sharing, and to GPU types.
    overheads
        Overheads, keyed by model; the entry with the empty name applies to all other models. A single
        `Overhead`, or its fields as in ``{"start": 4}``, applies to all models.
    share_limit
        Maximum number of jobs that may hold one GPU at the same time.
    capacity_changes
        Changes in the number of available GPUs, in strictly ascending order of time. Initially, all are
        available.
    events
        Machines that leave, return, are lent or are reclaimed, in order of time. A GPU is available if neither
        a capacity change nor an event has taken it.
    applications
        Measurements of models, keyed by model. The jobs of these models are adaptive: their speed depends on
        their machines, batch size and progress, and they may tune their batch size
        (`gsopt.scenario.job.Mode.tunes`). Their menus should state their highest speed on each number of GPUs.
        If the measurements distinguish GPU types, the model's jobs run on one type at a time.
    agents
        The settings that control how adaptive jobs make progress and tune themselves.
    restarts
        The changes for which a running job pays `Overhead.resize`. ``"change"``: every change of GPUs or mode.
        ``"shape"``: a new shape (numbers of GPUs on its machines, in order). ``"machines"``: a new number of
        machines. If measurements distinguish GPU types, moves to another type are always paid.
    checkpoint_interval
        Seconds of work between checkpoints of a job; 0 if progress is always saved. A job that stops, or
        changes its shape or mode, also writes a checkpoint; with ``restarts="change"``, so does a job whose
        GPUs change. If a machine leaves without notice (`gsopt.scenario.events.Leave`), its jobs with
        checkpoints fall back to their last ones.
    clock_start
        Time in seconds from which the rounds of policies and the intervals of adaptive jobs are counted; None
        for the first release date, which it must not exceed.

    Examples
    --------
    >>> Physics(overheads={"": Overhead(start=4)}).share_limit
    1
    """

    speed: Speed = Speed()
    overheads: Mapping[str, Overhead] = Field(default_factory=dict)
    share_limit: int = Field(default=1, ge=1, le=100)
    capacity_changes: Many[CapacityChange] = ()
    events: Many[Event] = ()
    applications: Mapping[Name, Application] = Field(default_factory=dict)
    agents: Agents = Agents()
    restarts: Literal["change", "shape", "machines"] = "change"
    checkpoint_interval: Seconds = 0.0
    clock_start: Seconds | None = None

    @field_validator("overheads", mode="before")
    @classmethod
    def _overhead_of_all_models(cls, given: Any) -> Any:
        numbers = isinstance(given, Mapping) and given and not any(map(_is_overhead, given.values()))
        return {"": given} if isinstance(given, Overhead) or numbers else given

    @field_validator("capacity_changes", mode="after")
    @classmethod
    def _changes_by_time(cls, changes: tuple[CapacityChange, ...]) -> tuple[CapacityChange, ...]:
        refuse_falls("capacity_changes[{}].time", [change.time for change in changes])
        return changes

    def overhead(self, job: Job) -> Overhead:
        """Return the overhead of a job, which depends on its model."""
        return self.overheads.get(job.model) or self.overheads.get("") or NO_OVERHEAD

    def application(self, job: Job) -> Application | None:
        """Return the measurements of an adaptive job's model, or None for any other job."""
        return self.applications.get(job.model)

    def tells_types(self, job: Job) -> bool:
        """Check whether a job's application distinguishes GPU types; such a job runs on one type at a time."""
        application = self.applications.get(job.model)
        return application is not None and bool(application.gpu_types)


class Scenario(Physics):
    """A workload, a cluster, and the rules by which the workload runs on the cluster.

    Attributes
    ----------
    workload
        The jobs to run.
    cluster
        The GPUs to run them on.

    Examples
    --------
    >>> job = Job(name="a", release_date=0, duration=60, gpus=4)
    >>> Scenario(workload=Workload(jobs=[job]), cluster=Cluster.plain(8)).overhead(job).start
    0.0
    """

    workload: Workload
    cluster: Cluster

    @classmethod
    def of(
        cls, given: "Workload | Scenario", cluster: Cluster | int | str | None = None, **physics: Any
    ) -> "Scenario":
        """Create a scenario from a workload and a cluster, or return the given scenario.

        Parameters
        ----------
        given
            A workload, a trace that was read, or a scenario. With a scenario, no other arguments are allowed.
        cluster
            The cluster, its number of GPUs, or equal racks such as ``"4x8x8"``.
        physics
            Fields of `Physics`; None stands for the default value.

        Raises
        ------
        InvalidInput
            A rule is broken, for example because a job never fits, or a field does not exist.

        Examples
        --------
        >>> jobs = Workload(jobs=[Job(name="a", release_date=0, duration=60, gpus=4)])
        >>> Scenario.of(jobs, 8, capacity_changes=[CapacityChange(time=3600, gpus=6)]).cluster.gpus
        8
        """
        for field in physics.keys() - Physics.model_fields.keys():
            rule = f"is not a field of a scenario; the fields are {', '.join(Physics.model_fields)}"
            raise InvalidInput(field, shorten(physics[field]), rule)
        given_fields = {
            name: value for name, value in {"cluster": cluster, **physics}.items() if value is not None
        }
        if isinstance(given, Scenario):
            for field, value in given_fields.items():
                rule = "belongs to a workload; what is given is a scenario, which has it"
                raise InvalidInput(field, shorten(value), rule)
            return given
        given = getattr(given, "workload", given)
        if not isinstance(given, Workload):
            raise InvalidInput("given", f"a {type(given).__name__}", "must be a workload or a scenario")
        if cluster is None:
            raise InvalidInput("cluster", "", "is required: the GPUs, or their number")
        try:
            return cls(workload=given, **{**given_fields, "cluster": _cluster_of(cluster)})
        except ValidationError as error:
            raise first_error("scenario", error) from None

    @property
    def offered_load(self) -> float | None:
        """GPU time that all jobs demand, divided by that of the cluster from the first to the last release.

        It is None if all release dates are equal, or if there are no jobs.
        """
        jobs = self.workload.jobs
        span = jobs[-1].release_date - jobs[0].release_date if jobs else 0.0
        return fsum(job.gpus * job.duration for job in jobs) / (self.cluster.gpus * span) if span else None

    @property
    def clock(self) -> Clock:
        """The scenario's clock, which defines the origin of time."""
        jobs = self.workload.jobs
        first = jobs[0].release_date if jobs else 0
        return Clock(decimal(first if self.clock_start is None else self.clock_start))

    def on_own_clock(self) -> "Scenario":
        """Return the same scenario with all times relative to the origin of its clock.

        Examples
        --------
        >>> jobs = Workload(jobs=[Job(name="a", release_date=1.7e9 + 0.5, duration=60, gpus=4)])
        >>> scenario = Scenario.of(jobs, 8, capacity_changes=[CapacityChange(time=1.7e9 + 2, gpus=6)])
        >>> own = scenario.on_own_clock()
        >>> own.workload.jobs[0].release_date, own.capacity_changes[0].time, own.clock.origin
        (0.0, 1.5, 0)
        """
        clock = self.clock
        if not clock.origin:
            return self
        return self.model_copy(
            update={
                "workload": self.workload.since(clock),
                "capacity_changes": tuple(_since(each, clock) for each in self.capacity_changes),
                "events": tuple(_since(each, clock) for each in self.events),
                "clock_start": None if self.clock_start is None else 0.0,
            }
        )

    def refuse_fractions(self) -> None:
        """Raise `InvalidInput` if a job is adaptive, because its speed, a float, rules out ``exact=True``."""
        for job in self.workload.jobs:
            if self.application(job) is not None:
                rule = f"must be False: the speed of {job.name!r}, whose model has an application, is a float"
                raise InvalidInput("exact", "True", rule)

    @model_validator(mode="after")
    def _clock_starts_before_the_jobs(self) -> "Scenario":
        first = min((job.release_date for job in self.workload.jobs[:1]), default=LATEST)
        if self.clock_start is not None and self.clock_start > first:
            rule = f"must be at most the first release date, {first:g}"
            raise RuleBroken("clock_start", self.clock_start, rule)
        return self

    @model_validator(mode="after")
    def _capacity_within_the_cluster(self) -> "Scenario":
        for index, change in enumerate(self.capacity_changes):
            if change.gpus > self.cluster.gpus:
                rule = f"must be at most the {self.cluster.gpus} GPUs of the cluster"
                raise RuleBroken(f"capacity_changes[{index}].gpus", change.gpus, rule)
        return self

    @model_validator(mode="after")
    def _sharing_needs_racks(self) -> "Scenario":
        if self.share_limit > 1 and self.cluster.is_plain:
            raise RuleBroken("share_limit", self.share_limit, "must be 1 in a plain cluster")
        return self

    @model_validator(mode="after")
    def _restarts_by_shape_need_racks(self) -> "Scenario":
        if self.restarts != "change" and self.cluster.is_plain:
            raise RuleBroken("restarts", self.restarts, "must be 'change' in a plain cluster")
        return self

    @model_validator(mode="after")
    def _applications_need_racks(self) -> "Scenario":
        """Require a cluster with machines for adaptive jobs, and reject tier penalties of measured models."""
        for model in self.applications:
            if self.cluster.is_plain:
                raise RuleBroken("applications", model, "must be empty in a plain cluster")
            if model in self.speed.tiers:
                raise RuleBroken(
                    "speed.tiers", model, "must not have a model with an application, which includes them"
                )
        return self

    @model_validator(mode="after")
    def _types_that_differ_have_names(self) -> "Scenario":
        """Require typed machines if applications distinguish types, and reject slowdowns of measured types."""
        for model, application in self.applications.items():
            for machine in self.cluster.machines if application.gpu_types else ():
                if not machine.gpu_type:
                    rule = f"must have a gpu_type, as the application of {model} tells types apart"
                    raise RuleBroken("cluster", machine.name, rule)
            for gpu_type in application.gpu_types:
                if gpu_type in self.speed.gpu_types:
                    rule = f"must be no type on which the application of {model} was measured"
                    raise RuleBroken("speed.gpu_types", gpu_type, rule)
        return self

    @model_validator(mode="after")
    def _adaptive_jobs_are_measured(self) -> "Scenario":
        for index, job in enumerate(self.workload.jobs):
            application = self.applications.get(job.model)
            for field, value, rule in _wrong_of_adaptive(job, application):
                raise RuleBroken(f"workload.jobs[{index}].{field}", value, rule)
        return self

    @model_validator(mode="after")
    def _penalties_of_known_levels(self) -> "Scenario":
        """Require that penalties are for levels of the cluster. The usual levels are always allowed."""
        if not self.cluster.is_plain:
            require_levels("speed.tiers", self.speed.tiers, self.cluster.levels)
        return self

    @model_validator(mode="after")
    def _slowdowns_of_known_types(self) -> "Scenario":
        known = {machine.gpu_type for machine in self.cluster.machines}
        for name in self.speed.gpu_types if known else ():
            if name not in known:
                rule = f"must be a GPU type of the cluster: {', '.join(sorted(known - {''})) or 'it has none'}"
                raise RuleBroken("speed.gpu_types", name, rule)
        return self

    @model_validator(mode="after")
    def _events_are_possible(self) -> "Scenario":
        refuse_impossible(self.events, self.cluster)
        return self

    @model_validator(mode="after")
    def _given_up_gpus_are_there(self) -> "Scenario":
        """Check that a plain cluster has the GPUs to give up, and that GPUs that return were given up.

        In other clusters, it depends on decisions which machines are given up.
        """
        if not self.cluster.is_plain:
            return self
        changes = [(change.time, 0, change.gpus, "") for change in self.capacity_changes]
        for index, each in enumerate(self.events):
            if isinstance(each, Return):
                changes.append((each.time, 1, -(each.gpus or 0), f"events[{index}].gpus"))
            elif isinstance(each, Reclaim):
                changes.append((each.deadline, 2, each.gpus or 0, f"events[{index}].gpus"))
        there, given_up = self.cluster.gpus, 0
        for time, _, gpus, field in sorted(changes, key=lambda step: step[:2]):
            if not field:
                there = gpus
                continue
            if -gpus > given_up:
                raise RuleBroken(field, -gpus, f"must be at most the {given_up} GPUs given up by {time:g}")
            if gpus > max(there - given_up, 0):
                rule = f"must be at most the {max(there - given_up, 0)} GPUs that are available at {time:g}"
                raise RuleBroken(field, gpus, rule)
            given_up += gpus
        return self

    @model_validator(mode="after")
    def _modes_for_a_type_need_racks(self) -> "Scenario":
        for index, job in enumerate(self.workload.jobs if self.cluster.is_plain else ()):
            for place, mode in enumerate(job.modes):
                if mode.gpu_type:
                    field = f"workload.jobs[{index}].modes[{place}].gpu_type"
                    raise RuleBroken(
                        field, mode.gpu_type, "must be empty in a plain cluster, which has no types"
                    )
        return self

    @model_validator(mode="after")
    def _every_job_fits(self) -> "Scenario":
        @cache
        def room_for(kind: str, memory: int, *, apart: bool) -> int:
            """Count the GPUs that a job may hold at once, all of one type if `apart`."""
            kinds = self.cluster.gpu_types if apart and not kind else [kind]
            return max(self.cluster.room(each, memory) for each in kinds)

        def room(job: Job, mode: str) -> int:
            return room_for(job.gpu_type_in(mode), job.memory_in(mode) or 0, apart=self.tells_types(job))

        for index, job in enumerate(self.workload.jobs):
            if job.gpus <= room(job, DEFAULT_MODE):
                continue  # as most jobs do
            if all(min(counts) > room(job, mode) for mode, counts in job.speeds.items()):
                mode = max(job.speeds, key=lambda mode: room(job, mode))
                size, kind, apart = room(job, mode), job.gpu_type_in(mode), self.tells_types(job)
                memory = " with enough memory" if size < room_for(kind, 0, apart=apart) else ""
                rule = f"must fit the {size} {kind}{' ' if kind else ''}GPUs{memory} of the cluster"
                if apart and not kind:
                    rule += " that are of one type"
                raise RuleBroken(f"workload.jobs[{index}].gpus", job.gpus, rule)
        return self


def _since(given: Dated, clock: Clock) -> Dated:
    """Return the same change or event with its times relative to the origin of a clock."""
    times = {name: getattr(given, name) for name in ("time", "deadline") if hasattr(given, name)}
    moved: Any = given.model_copy(update={name: clock.since(time) for name, time in times.items()})
    return cast("Dated", moved)


def _wrong_of_adaptive(job: Job, application: Application | None) -> Iterator[tuple[str, Any, str]]:
    """Yield the field, value and rule for each conflict between a job and its application or lack of one."""
    if application is None:
        for place, mode in enumerate(job.modes):
            if mode.tunes:
                yield f"modes[{place}].tunes", True, "must be False without an application of the job's model"
        return
    if job.phases:
        yield "phases", job.phases, "must be empty for a job with an application, which has its own course"
    if job.training is not None:
        yield "training", job.training, "must be None of a job with an application, which has its own"
    for mode_name in job.speeds:
        batch = job.batch_in(mode_name)
        if batch is None and not job.tunes_in(mode_name):
            yield "batch_size", batch, "must be given for a job with an application"
        elif batch is not None and batch > application.limits.most_batch:
            rule = f"must be at most the {application.limits.most_batch} that the application allows"
            yield "batch_size", batch, rule


def _cluster_of(given: Cluster | int | str) -> Cluster:
    if isinstance(given, str):
        return Cluster.from_shape(given)
    return Cluster.plain(given) if isinstance(given, int) else given


def _is_overhead(value: Any) -> bool:
    return isinstance(value, Overhead | Mapping)
