"""Sharing over time: the start time and the GPUs of each job when two jobs may share a GPU."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.errors import Unsupported
from gsopt.core.numbers.clock import Clock, clock_error
from gsopt.core.numbers.grid import Exact, decimal, whole
from gsopt.core.problem import MOST_DIGITS, Frozen, Many, Name, Number, Problem, RuleBroken, Sense
from gsopt.problems.names import Named
from gsopt.problems.rigid import require_rigid
from gsopt.problems.waiting import Run, broken_runs, first_segments
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import LATEST, Bytes, Job, Slowdown, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.course import ProgressOfJobs


class SharingSolution(Frozen):
    """The start time and the GPUs of every job."""

    runs: Many[Run]


def run_at(job: str, time: Exact, gpus: Iterable[int]) -> Run:
    """Return a run that starts at the given exact time.

    If the time has too many digits to be written to a file, the nearest float is used.

    Examples
    --------
    >>> run_at("a", Fraction(10, 3), [1, 0])
    Run(job='a', start=Fraction(10, 3), gpus=(0, 1))
    """
    writable = max(time.as_integer_ratio()) < 10**MOST_DIGITS
    return Run(job=job, start=time if writable else float(time), gpus=sorted(gpus))


class Sharing(Problem[SharingSolution]):
    """The problem of starting rigid jobs on identical GPUs, where jobs that share a GPU slow each other down.

    All jobs are known in advance. Each runs on the same GPUs from its start to its end. At any moment, its
    speed is determined by the other job on its GPUs that slows it down most. The mean job completion time is
    minimized.

    Start times are exact. A float that breaks a rule only because of rounding is moved to the arrival or end
    that it approximates.

    Source: Castor, Eq. 6-13, without time slots, and Eq. 4-5 for the speeds.

    Attributes
    ----------
    gpus
        Number of GPUs.
    jobs
        The jobs, in any order. Each runs on exactly as many GPUs as it demands.
    interference
        ``interference[a][b]`` is the slowdown of model a when it shares a GPU with model b.
    default_interference
        Slowdown for pairs of models that are not listed.
    share_limit
        Maximum number of jobs that may hold the same GPU at the same time: 1 or 2.
    memory
        Bytes of memory of each GPU, which must suffice for all jobs that share it; None to ignore memory.
    starts
        When jobs may start. ``"events"`` (Model E): only when a job arrives or ends. ``"any"`` (Model C): at
        any time, which may yield better schedules. The optimum of Model E is not a lower bound for Model C.

    Examples
    --------
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, model=n) for n, d in [("a", 4), ("b", 1)]]
    >>> problem = Sharing(gpus=1, jobs=jobs, default_interference=2.0)
    >>> together = SharingSolution(runs=[Run(job="a", start=0, gpus=[0]), Run(job="b", start=0, gpus=[0])])
    >>> in_turn = SharingSolution(runs=[Run(job="a", start=0, gpus=[0]), Run(job="b", start=4, gpus=[0])])
    >>> problem.objective(together), problem.objective(in_turn)
    (Fraction(7, 2), Fraction(9, 2))
    """

    word: ClassVar[str] = "sharing"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = SharingSolution

    problem: Literal["sharing"] = "sharing"
    gpus: Annotated[int, Field(ge=1, le=10_000)]
    jobs: Annotated[Named[Job], Field(min_length=1)]
    interference: Mapping[Name, Mapping[Name, Slowdown]] = Field(default_factory=dict)
    default_interference: Slowdown = 1.0
    share_limit: Annotated[int, Field(ge=1, le=2)] = 2
    memory: Bytes | None = None
    starts: Literal["events", "any"] = "events"

    @model_validator(mode="after")
    def _rules_hold(self) -> "Sharing":
        require_rigid(self.jobs, memory=True)
        for index, job in enumerate(self.jobs):
            if job.gpus > self.gpus:
                raise RuleBroken(f"jobs[{index}].gpus", job.gpus, f"must be at most the {self.gpus} GPUs")
            if self.memory is not None and (job.memory or 0) > self.memory:
                rule = f"must be at most the {self.memory} bytes of a GPU"
                raise RuleBroken(f"jobs[{index}].memory", job.memory, rule)
        last = max(job.release_date for job in self.jobs)
        if last + sum(job.duration for job in self.jobs) > LATEST:
            raise RuleBroken("jobs", len(self.jobs), f"must be able to end by {LATEST:g} s one after the other")
        return self

    @property
    def unit(self) -> str:
        """Unit of the objective: seconds of mean job completion time."""
        return "seconds of mean job completion time"

    @cached_property
    def origin(self) -> Exact:
        """The first release date, in seconds."""
        return min(self.releases)

    @cached_property
    def releases(self) -> tuple[Exact, ...]:
        """Release dates of all jobs, in seconds."""
        return tuple(decimal(job.release_date) for job in self.jobs)

    @cached_property
    def durations(self) -> tuple[Exact, ...]:
        """Running time of each job if it shares no GPUs, in seconds."""
        return tuple(decimal(job.duration) for job in self.jobs)

    def slowdown(self, job: int, partner: int) -> Exact:
        """Return the slowdown of one job when it shares GPUs with another, both given by index.

        Examples
        --------
        >>> jobs = [Job(name=n, release_date=0, duration=1, gpus=1, model=n) for n in "ab"]
        >>> problem = Sharing(gpus=1, jobs=jobs, interference={"a": {"b": 1.5}})
        >>> problem.slowdown(0, 1), problem.slowdown(1, 0)
        (Fraction(3, 2), 1)
        """
        own, other = self.jobs[job].model, self.jobs[partner].model
        return decimal(self.interference.get(own, {}).get(other, self.default_interference))

    def may_share(self, job: int, partner: int) -> bool:
        """Check whether two jobs may share a GPU: `share_limit` must be 2, and memory must suffice for both.

        Examples
        --------
        >>> sizes = [("a", 3), ("b", 5)]
        >>> jobs = [Job(name=n, release_date=0, duration=1, gpus=1, memory=size) for n, size in sizes]
        >>> [Sharing(gpus=1, jobs=jobs, memory=memory).may_share(0, 1) for memory in (7, 8)]
        [False, True]
        """
        if self.share_limit == 1:
            return False
        both = (self.jobs[job].memory or 0) + (self.jobs[partner].memory or 0)
        return self.memory is None or both <= self.memory

    def objective(self, solution: SharingSolution) -> Exact:
        """Return the mean job completion time in seconds."""
        course, _ = self._replayed(solution)
        return self._mean(course)

    def violations(self, solution: SharingSolution) -> list[str]:
        """Return a message for each broken rule.

        The rules on sharing, and on starting at events, are only checked if the runs break no other rule.
        """
        found = list(broken_runs(solution.runs, self.jobs, self.gpus, self._excuse))
        return found or self._replayed(solution)[1]

    def measures(self, solution: SharingSolution) -> dict[str, Number]:
        """Return the makespan and the total number of seconds by which sharing prolongs jobs."""
        spans = self.spans(solution)
        longer = sum(
            end - start - duration for (start, end), duration in zip(spans, self.durations, strict=True)
        )
        last = max(end for _, end in spans)
        return {"makespan": whole(last - self.origin), "seconds lost to partners": whole(Fraction(longer))}

    def headline(self) -> dict[str, int | float | str]:
        """Return the numbers of jobs and GPUs, and when jobs may start (``events`` or ``any``)."""
        return {"jobs": len(self.jobs), "GPUs": self.gpus, "starts": self.starts}

    def spans(self, solution: SharingSolution) -> tuple[tuple[Exact, Exact], ...]:
        """Return the exact start and end of every job in a feasible solution, in job order."""
        course, _ = self._replayed(solution)
        return tuple((course.starts[job], course.ends[job]) for job in range(len(self.jobs)))

    def candidates(self) -> Iterator[SharingSolution]:
        """Yield all schedules in which each job starts when a job arrives or ends.

        GPUs that the same jobs hold are interchangeable, so only one choice among them is yielded.

        Raises
        ------
        Unsupported
            Jobs may start at any time.
        """
        if self.starts == "any":
            raise Unsupported("sharing with starts at any time has no enumeration")
        return self._continued(self._course(), {}, -1)

    @cached_property
    def workload(self) -> Workload:
        """The jobs as a workload, with times counted from the first release date."""
        return Workload(name=self.name, jobs=self.jobs).since(Clock(self.origin))

    @cached_property
    def scenario(self) -> Scenario:
        """The workload, one machine, the interference and the share limit, as a scenario for the simulator."""
        machine = Machine(name="machine 0", gpus=self.gpus, memory=self.memory)
        speed = Speed(interference=self.interference, default_interference=self.default_interference)
        return Scenario(
            workload=self.workload,
            cluster=Cluster(racks=[Rack(name="rack 0", machines=[machine])]),
            speed=speed,
            share_limit=self.share_limit,
        )

    def taken_over(self, schedule: Schedule) -> SharingSolution:
        """Convert a schedule of the workload, in floating-point times, into a solution with exact times.

        Each job starts after the same arrivals and completions as in the schedule, and with the same delay
        after the last of these events.

        Raises
        ------
        InvalidInput
            A job is unknown, interrupted or moved.

        Examples
        --------
        >>> job = Job(name="a", release_date=1.7e9, duration=10, gpus=2)
        >>> problem = Sharing(gpus=2, jobs=[job, job.model_copy(update={"name": "b", "duration": 1})])
        >>> segments = Segment("a", 0, 10.0, 2, (0, 1)), Segment("b", 10.0, 11.0, 2, (0, 1))
        >>> [run.start for run in problem.taken_over(Schedule(segments)).runs]
        [1700000000.0, 1700000010.0]
        """
        ends = {segment.job: segment.end for segment in sorted(schedule.segments, key=lambda each: each.start)}
        dates = {self._number[job.name]: job.release_date for job in self.workload.jobs}
        course, runs = self._course(), list[Run]()
        for first in sorted(first_segments(schedule, self._number), key=lambda segment: segment.start):
            ended = [self._number[job] for job, end in ends.items() if end <= first.start]
            arrived = [job for job, date in dates.items() if date <= first.start]
            while (event := course.next_event) is not None and not course.ends.keys() >= set(ended):
                course.pass_until(event)
            last = max(
                [self.origin, *(self.releases[job] for job in arrived), *(course.ends[job] for job in ended)]
            )
            there = max([0.0, *(dates[job] for job in arrived), *(ends[self.jobs[job].name] for job in ended)])
            later = Fraction(first.start) - Fraction(there)
            course.pass_until(max(course.now, last + later))
            course.start(self._number[first.job], first.placement)
            runs.append(run_at(first.job, course.now, first.placement))
        return SharingSolution(runs=runs)

    def schedule(self, solution: SharingSolution) -> Schedule:
        """Convert a solution into a schedule of the workload, for plots."""
        spans = self.spans(solution)
        return Schedule(
            tuple(
                Segment(
                    run.job,
                    float(start - self.origin),
                    float(end - self.origin),
                    len(run.gpus),
                    tuple(run.gpus),
                )
                for run in solution.runs
                for start, end in [spans[self._number[run.job]]]
            )
        )

    # The judge

    def _replayed(self, solution: SharingSolution) -> tuple[ProgressOfJobs, list[str]]:
        """Replay the runs; return the progress of the jobs and the broken rules on starts and sharing."""
        course, wrong = self._course(), list[str]()
        for run in sorted(solution.runs, key=lambda run: decimal(run.start)):
            job = self._number[run.job]
            given = Fraction(max(decimal(run.start), self.releases[job]))
            excuse = self._excuse(run.start)
            while (event := course.next_event) is not None and event <= given:
                course.pass_until(event)
            behind = given - course.last_event
            if (
                event is not None
                and event - given <= excuse
                and self._waits(course, job, run, event - given < behind)
            ):
                course.pass_until(event)
            elif abs(behind) > excuse or self.starts == "any":
                wrong += self._between(run, given + excuse < course.now)
                course.pass_until(max(given, course.now))
            wrong += (rule for gpu in run.gpus for rule in self._crowd(course, job, gpu, run.start))
            course.start(job, run.gpus)
        while (event := course.next_event) is not None:
            course.pass_until(event)
        return course, wrong

    def _waits(self, course: ProgressOfJobs, job: int, run: Run, is_nearer: bool) -> bool:
        """Check whether a start just before an event should be moved to the event.

        If jobs must start at events, it is moved if no other event is nearer. If they may start at any time, it
        is moved if the job's GPUs are not free before the event.
        """
        if self.starts == "events":
            return is_nearer
        return any(rule for gpu in run.gpus for rule in self._crowd(course, job, gpu, run.start))

    def _between(self, run: Run, is_past: bool) -> Iterator[str]:
        """Yield a message if a start is between two events, or before the start of an earlier run."""
        if self.starts == "events" or is_past:
            yield f"job {run.job!r} starts at {float(run.start):g}, when no job arrives or ends"

    def _crowd(self, course: ProgressOfJobs, job: int, gpu: int, start: Number) -> Iterator[str]:
        users = course.users.get(gpu, [])
        names = ", ".join(repr(self.jobs[user].name) for user in [*users, job])
        if len(users) >= self.share_limit:
            yield f"GPU {gpu} is held by jobs {names} at {float(start):g}"
        elif any(not self.may_share(user, job) for user in users):
            yield f"GPU {gpu} does not have the memory for jobs {names} at {float(start):g}"

    def _course(self) -> ProgressOfJobs:
        return ProgressOfJobs(self.durations, self.slowdown, self.releases)

    def _mean(self, course: ProgressOfJobs) -> Exact:
        total = sum(course.ends[job] - release for job, release in enumerate(self.releases))
        return whole(Fraction(total) / len(self.jobs))

    @staticmethod
    def _excuse(start: Number) -> Fraction:
        """Return by how many seconds rounding may have shifted a start time; 0 if the time is exact."""
        return Fraction(clock_error(start, 0.0)) if isinstance(start, float) else Fraction(0)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {job.name: number for number, job in enumerate(self.jobs)}

    # The enumeration

    def _continued(
        self, course: ProgressOfJobs, runs: Mapping[int, Run], last: int
    ) -> Iterator[SharingSolution]:
        """Yield all schedules that next start a job with an index above `last`, or wait for the next event."""
        if len(runs) == len(self.jobs):
            yield SharingSolution(runs=[runs[job] for job in sorted(runs)])
            return
        for job in range(last + 1, len(self.jobs)):
            if job not in runs and self.releases[job] <= course.now:
                for gpus in self._choices(course, job):
                    further = course.copy()
                    further.start(job, gpus)
                    run = run_at(self.jobs[job].name, course.now, gpus)
                    yield from self._continued(further, {**runs, job: run}, job)
        if (event := course.next_event) is not None:
            course.pass_until(event)
            yield from self._continued(course, runs, -1)

    def _choices(self, course: ProgressOfJobs, job: int) -> Iterator[list[int]]:
        """Yield the sets of GPUs on which a job may start, up to exchanging GPUs with the same users."""
        alike: dict[tuple[int, ...], list[int]] = {}
        for gpu in range(self.gpus):
            users = course.users.get(gpu, [])
            if len(users) < self.share_limit and all(self.may_share(user, job) for user in users):
                alike.setdefault(tuple(users), []).append(gpu)
        for counts in product(*(range(len(group) + 1) for group in alike.values())):
            if sum(counts) == self.jobs[job].gpus:
                groups = zip(alike.values(), counts, strict=True)
                yield sorted(gpu for group, count in groups for gpu in group[:count])
