"""Scheduling over time: when each job runs, and on how many GPUs, until all are complete."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.clock import clock_error
from gsopt.cluster import Cluster
from gsopt.errors import InvalidInput, shorten
from gsopt.job import Job, Seconds, Workload
from gsopt.problem import Frozen, Gpus, Many, Name, Number, Problem, RuleBroken, Sense, refuse_doubles
from gsopt.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.judge import Verdict, fluid_finish_times, judge
from gsopt.tolerances import CONTINUOUS

#: Work of a job, in any unit.
Work = Annotated[float, Field(gt=0, le=1e15)]

#: Work done per second on some number of GPUs.
Rate = Annotated[float, Field(gt=0, le=1e12)]

#: Figures of a schedule that an instance and its objective say already.
_STATED = frozenset({"jobs", "completed", "mean_jct", "lower_bound", "gap"})

#: Longest that a job may take alone, in seconds, and the most that its rates may differ.
_LONGEST, _MOST_SPEEDUP = 1e12, 1e6


class ElasticJob(Frozen):
    """A job that runs on one of several numbers of GPUs at a time.

    Attributes
    ----------
    name
        Name of the job, unique in its problem.
    release
        Release date in seconds.
    work
        Work to be done, in any unit.
    rates
        Work done per second on each number of GPUs on which the job may run.
    gpus
        Number of GPUs that it demands; the smallest allowed number when None.

    Examples
    --------
    >>> job = ElasticJob(name="a", release=0, work=12, rates={1: 1.0, 2: 1.5})
    >>> job.demand, job.duration, job.menu
    (1, 12.0, ((1, 1.0), (2, 1.5)))
    """

    name: Name
    release: Seconds
    work: Work
    rates: Annotated[Mapping[Gpus, Rate], Field(min_length=1)]
    gpus: Gpus | None = None

    @model_validator(mode="after")
    def _demand_has_a_rate(self) -> "ElasticJob":
        if self.gpus is not None and self.gpus not in self.rates:
            raise RuleBroken("gpus", self.gpus, f"must be one of the counts with a rate, {sorted(self.rates)}")
        return self

    @model_validator(mode="after")
    def _numbers_are_alike(self) -> "ElasticJob":
        if self.duration > _LONGEST:
            raise RuleBroken("work", self.work, f"must take at most {_LONGEST:g} s on the demanded GPUs")
        if max(self.rates.values()) > _MOST_SPEEDUP * min(self.rates.values()):
            raise RuleBroken("rates", dict(self.rates), f"must differ by a factor of at most {_MOST_SPEEDUP:g}")
        return self

    @property
    def demand(self) -> int:
        """Number of GPUs that the job demands."""
        return min(self.rates) if self.gpus is None else self.gpus

    @property
    def duration(self) -> float:
        """Seconds that the job takes alone on the GPUs that it demands."""
        return self.work / self.rates[self.demand]

    @property
    def menu(self) -> tuple[tuple[int, float], ...]:
        """Every allowed number of GPUs, ascending, with the speed relative to that on the demanded GPUs."""
        base = self.rates[self.demand]
        return tuple((count, rate / base) for count, rate in sorted(self.rates.items()))


class Run(Frozen):
    """A job on the same number of GPUs from start to end, in seconds."""

    job: Name
    start: Seconds
    end: Seconds
    gpus: Gpus


class SchedulingSolution(Frozen):
    """What runs when, on how many GPUs."""

    runs: Many[Run]

    @classmethod
    def of(cls, schedule: Schedule) -> "SchedulingSolution":
        """Take over a schedule, whatever made it.

        Raises
        ------
        InvalidInput
            A job runs in another mode than its default, which the problem does not know.

        Examples
        --------
        >>> SchedulingSolution.of(Schedule((Segment("a", 0, 1.5, 2),))).runs[0].end
        1.5
        """
        for index, piece in enumerate(schedule.segments):
            if piece.mode:
                rule = "must be the default mode"
                raise InvalidInput("schedule", f"segments[{index}].mode", shorten(piece.mode), rule)
        return cls(
            runs=tuple(
                Run(job=piece.job, start=float(piece.start), end=float(piece.end), gpus=piece.gpus)
                for piece in schedule.segments
            )
        )

    @property
    def schedule(self) -> Schedule:
        """The runs as a schedule, as the simulator and the plots know it."""
        return Schedule(tuple(Segment(run.job, run.start, run.end, run.gpus) for run in self.runs))


class Scheduling(Problem[SchedulingSolution]):
    """Run elastic jobs on a cluster so that they complete as early as possible on average.

    A job may be interrupted and resized at any time and at no cost, and any GPUs will do. So the optimum
    bounds every policy that gives a job only counts with a rate, whatever its rounds, overheads and
    placements. With `fairness` no job may complete more than that many seconds after it would if all GPUs were
    shared equally, as a fluid, among the jobs that are there. Without preemption a job is resized at will, but
    runs from its start to its completion: the offline problem of elastic jobs in Aryl, section 5.

    Source: Ares, Eq. 1. The text calls the reference a job completion time, the equation compares it with
    a time of completion; it is taken as the latter. Work is counted in GPU-seconds on the demanded GPUs.

    Attributes
    ----------
    gpus
        Number of GPUs.
    jobs
        The jobs, in any order.
    fairness
        The constant C of Eq. 1 in seconds; no constraint when None.
    preemptive
        Whether a job that has started may pause. Otherwise it holds one of its counts until it completes.

    Examples
    --------
    >>> job = ElasticJob(name="a", release=1, work=12, rates={1: 1.0, 4: 4.0})
    >>> problem = Scheduling(gpus=4, jobs=[job])
    >>> problem.objective(SchedulingSolution(runs=[Run(job="a", start=1, end=4, gpus=4)]))
    3.0
    """

    word: ClassVar[str] = "scheduling"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = SchedulingSolution

    problem: Literal["scheduling"] = "scheduling"
    gpus: Gpus
    jobs: Annotated[Many[ElasticJob], Field(min_length=1)]
    fairness: Seconds | None = None
    preemptive: bool = True

    @model_validator(mode="after")
    def _names_differ(self) -> "Scheduling":
        refuse_doubles("jobs", (job.name for job in self.jobs))
        return self

    @model_validator(mode="after")
    def _every_job_fits(self) -> "Scheduling":
        for index, job in enumerate(self.jobs):
            if job.demand > self.gpus:
                field = f"jobs[{index}].{'rates' if job.gpus is None else 'gpus'}"
                raise RuleBroken(field, job.demand, f"must fit the {self.gpus} GPUs of the cluster")
        return self

    @property
    def unit(self) -> str:
        """What the objective counts."""
        return "seconds of mean job completion time"

    def resolution(self, value: Number) -> float:
        """Give a millionth of a mean job completion time, and what the judge may excuse all jobs together."""
        last = max(job.release for job in self.jobs) + len(self.jobs) * float(value)
        return CONTINUOUS * float(value) + len(self.jobs) * clock_error(last, value)

    @cached_property
    def workload(self) -> Workload:
        """The jobs as a workload, in the order of their release dates."""
        return Workload(
            name=self.name,
            jobs=tuple(
                Job(
                    name=job.name,
                    release_date=job.release,
                    duration=job.duration,
                    gpus=job.demand,
                    menu=tuple(entry for entry in job.menu if entry[0] <= self.gpus),
                )
                for job in self.jobs
            ),
        )

    @cached_property
    def scenario(self) -> Scenario:
        """The workload on its cluster, as the simulator takes it."""
        return Scenario(workload=self.workload, cluster=Cluster.plain(self.gpus))

    def objective(self, solution: SchedulingSolution) -> float:
        """Mean job completion time in seconds."""
        return float(self._verdict(solution).mean_jct)

    def violations(self, solution: SchedulingSolution) -> list[str]:
        """List broken rules of the schedule, then jobs that complete too late to be fair."""
        verdict = self._verdict(solution)
        return [*verdict.violations, *self._unfair(verdict)]

    def measures(self, solution: SchedulingSolution) -> dict[str, Number]:
        """Give the figures of efficiency and fairness with which schedulers are compared."""
        verdict = judge(solution.schedule, self.scenario)
        delays = [
            completion - fair
            for completion, fair in zip(verdict.completion_times, self._fair_times, strict=True)
        ]
        return {
            **{key: value for key, value in verdict.as_dict().items() if key not in _STATED},
            "largest delay behind GPS (s)": max(delays),
        }

    def headline(self) -> dict[str, int | float | str]:
        """Give what tells instances apart."""
        return {"jobs": len(self.jobs), "GPUs": self.gpus}

    def _verdict(self, solution: SchedulingSolution) -> Verdict:
        """Judge a solution, unless it is one of the last two: they are scored, checked and compared in turn."""
        for known, verdict in tuple(self._judged):
            if known is solution:
                return verdict
        schedule = replace(solution.schedule, preemptive=self.preemptive)
        found = judge(schedule, self.scenario, fairness=False)
        self._judged.append((solution, found))
        return found

    @cached_property
    def _judged(self) -> deque[tuple[SchedulingSolution, Verdict]]:
        return deque(maxlen=2)

    @cached_property
    def _fair_times(self) -> list[Any]:
        caps = [float(self.gpus)] * len(self.jobs)
        return fluid_finish_times(self.workload.jobs, self.gpus, caps, float)

    def _unfair(self, verdict: Verdict) -> list[str]:
        if self.fairness is None:
            return []
        broken = []
        pairs = zip(self.workload.jobs, verdict.completion_times, self._fair_times, strict=True)
        for job, completion, fair in pairs:
            deadline = fair + self.fairness
            excuse = clock_error(deadline, deadline - job.release_date)
            if completion is not None and completion > deadline + excuse:
                broken.append(
                    f"job {job.name!r} completes at {completion:g}, more than the fairness of "
                    f"{self.fairness:g} s after its fair share would at {fair:g}"
                )
        return broken
