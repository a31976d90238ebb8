"""Scheduling over time: when each elastic job runs, and on how many GPUs, until all jobs complete."""

from collections import deque
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from math import ulp
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.errors import InvalidInput, InvalidSolution, shorten
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.numbers.tolerances import CONTINUOUS, FINE_CLOCK, SPAN_ERROR
from gsopt.core.problem import Frozen, Gpus, Instant, Many, Name, Number, Problem, RuleBroken, Sense
from gsopt.problems.names import Named
from gsopt.problems.trial import Trial, fair_times
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import LEAST, Job, Seconds, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.judge import judge
from gsopt.schedule.retiming import ElasticTask, TaskStretch, retimed

#: Amount of work of a job, in any unit.
Work = Annotated[float, Field(gt=0, le=1e15)]

#: Amount of work that a job does per second on a given number of GPUs.
Rate = Annotated[float, Field(gt=0, le=1e12)]

#: Figures of a schedule that are omitted because the instance or the objective already states them.
_STATED = frozenset({"jobs", "completed", "mean_jct", "lower_bound", "gap"})

#: Maximum running time of a job alone, in seconds, and maximum ratio between the rates of a job.
_LONGEST, _MOST_SPEEDUP = 1e12, 1e6


class ElasticJob(Frozen):
    """An elastic job, which may run on different numbers of GPUs over time.

    Attributes
    ----------
    name
        Name of the job, unique in its problem.
    release
        Release date in seconds.
    work
        Amount of work, in any unit.
    rates
        Work done per second, keyed by number of GPUs. The job may run only on the numbers listed.
    gpus
        Number of GPUs that the job demands; None stands for the smallest allowed number.

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
    def _rules_hold(self) -> "ElasticJob":
        if self.gpus is not None and self.gpus not in self.rates:
            raise RuleBroken("gpus", self.gpus, f"must be one of the counts with a rate, {sorted(self.rates)}")
        if self.duration < LEAST:
            raise RuleBroken("work", self.work, f"must take at least {LEAST:g} s on the demanded GPUs")
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
        """Running time in seconds on the demanded number of GPUs."""
        return self.work / self.rates[self.demand]

    @property
    def menu(self) -> tuple[tuple[int, float], ...]:
        """Allowed numbers of GPUs, ascending, each with its speed relative to that on the demanded number."""
        base = self.rates[self.demand]
        return tuple((count, rate / base) for count, rate in sorted(self.rates.items()))


class Run(Frozen):
    """A period in which a job runs on a constant number of GPUs; `start` and `end` are in seconds."""

    job: Name
    start: Instant
    end: Instant
    gpus: Gpus


class SchedulingSolution(Frozen):
    """The runs of all jobs; each run has a job, a start, an end and a number of GPUs."""

    runs: Many[Run]

    @classmethod
    def of(cls, schedule: Schedule) -> "SchedulingSolution":
        """Create a solution from a schedule.

        Raises
        ------
        InvalidInput
            A job runs in a mode other than the default, the only one that the problem supports.

        Examples
        --------
        >>> SchedulingSolution.of(Schedule((Segment("a", 0, 1.5, 2),))).runs[0].end
        1.5
        """
        _refuse_modes(schedule)
        return cls(
            runs=tuple(
                Run(job=piece.job, start=float(piece.start), end=float(piece.end), gpus=piece.gpus)
                for piece in schedule.segments
            )
        )

    @property
    def schedule(self) -> Schedule:
        """The runs as a schedule with floating-point times, for `gsopt.judge` and for plots."""
        return Schedule(
            tuple(Segment(run.job, float(run.start), float(run.end), run.gpus) for run in self.runs)
        )


class Scheduling(Problem[SchedulingSolution]):
    """The problem of running elastic jobs on a cluster at minimum mean job completion time.

    Job completion times are counted from release dates. All GPUs are alike, and jobs may be resized at any time
    at no cost. By default, the optimum is a lower bound on the mean job completion time of every policy that
    runs jobs on allowed numbers of GPUs and does not share GPUs.

    Floats are read as decimals: 0.1 is exactly 1/10. Rounding errors by which runs with float times break rules
    are tolerated, but do not improve the objective (`gsopt.problems.trial`).

    Source: Ares, Eq. 1; without preemption, Aryl, section 5. In Ares, a job's completion under equal sharing
    (Eq. 1) is a duration; here, it is a point in time.

    Attributes
    ----------
    gpus
        Number of GPUs.
    jobs
        The jobs, in any order.
    fairness
        The constant C of Eq. 1, in seconds; None for no fairness constraint. Each job must complete at most
        this long after it would complete if all GPUs were divided equally, like a fluid, among the jobs
        present. Under this equal sharing, it needs as many GPU-seconds as on its demanded GPUs. A job may be
        late by a billionth of the allowed job completion time.
    preemptive
        Whether a job that has started may pause. If not, exact methods require that there is no `fairness`,
        that speeds are proportional to numbers of GPUs, and that each job's allowed numbers of GPUs are evenly
        spaced.

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
    jobs: Annotated[Named[ElasticJob], Field(min_length=1)]
    fairness: Seconds | None = None
    preemptive: bool = True

    @model_validator(mode="after")
    def _every_job_fits(self) -> "Scheduling":
        for index, job in enumerate(self.jobs):
            if job.demand > self.gpus:
                field = f"jobs[{index}].{'rates' if job.gpus is None else 'gpus'}"
                raise RuleBroken(field, job.demand, f"must fit the {self.gpus} GPUs of the cluster")
        return self

    @property
    def unit(self) -> str:
        """Unit of the objective: seconds of mean job completion time."""
        return "seconds of mean job completion time"

    def resolution(self, value: Number) -> float:
        """Return the difference up to which values are considered equal: a millionth of the given value."""
        return CONTINUOUS * float(value)

    @cached_property
    def origin(self) -> Exact:
        """The first release date, in seconds."""
        return min(decimal(job.release) for job in self.jobs)

    @cached_property
    def tasks(self) -> tuple[ElasticTask, ...]:
        """The jobs in exact numbers, in order of release.

        Times are counted from the first release date. Rates for more GPUs than the cluster has are left out.
        """
        return tuple(
            ElasticTask(
                job.name,
                decimal(job.release) - self.origin,
                decimal(job.work),
                {gpus: decimal(rate) for gpus, rate in sorted(job.rates.items()) if gpus <= self.gpus},
            )
            for job in sorted(self.jobs, key=lambda job: job.release)
        )

    @cached_property
    def workload(self) -> Workload:
        """The jobs as a workload, with the release dates of the problem."""
        return self._as_workload(decimal(0))

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario that consists of the workload and the cluster."""
        return Scenario(workload=self.workload, cluster=Cluster.plain(self.gpus))

    @cached_property
    def own_clock(self) -> Scenario:
        """The scenario with times counted from the first release date, for simulators and models."""
        workload = self._as_workload(self.origin) if self.origin else self.workload
        return Scenario(workload=workload, cluster=Cluster.plain(self.gpus))

    def _as_workload(self, origin: Exact) -> Workload:
        return Workload(
            name=self.name,
            jobs=tuple(
                Job(
                    name=job.name,
                    release_date=float(decimal(job.release) - origin),
                    duration=job.duration,
                    gpus=job.demand,
                    menu=tuple(entry for entry in job.menu if entry[0] <= self.gpus),
                )
                for job in self.jobs
            ),
        )

    def taken_over(self, schedule: Schedule) -> SchedulingSolution:
        """Convert a schedule for the scenario `own_clock` into a solution.

        The times are shifted to the problem's clock. If the shifted times are so large that floats would be too
        coarse for the shortest job, the schedule is recomputed in exact numbers (`gsopt.schedule.retiming`).

        Raises
        ------
        InvalidInput
            A job is unknown, or runs in a mode other than the default, the only one that the problem supports.

        Examples
        --------
        >>> job = ElasticJob(name="a", release=1_700_000_000, work=1, rates={1: 3e6})
        >>> problem = Scheduling(gpus=1, jobs=[job])
        >>> problem.taken_over(Schedule((Segment("a", 0, 1 / 3e6, 1),))).model_dump_json()
        '{"runs":[{"job":"a","start":1700000000.0,"end":"1700000000.0000003333333333334","gpus":1}]}'
        """
        _refuse_modes(schedule)
        names = {job.name for job in self.jobs}
        for index, piece in enumerate(schedule.segments):
            if piece.job not in names:
                rule = "must be a job of the problem"
                raise InvalidInput(f"segments[{index}].job", shorten(piece.job), rule, source="schedule")
        return self.made_of(
            [TaskStretch(each.job, each.start, each.end, each.gpus) for each in schedule.segments]
        )

    def made_of(self, runs: Iterable[TaskStretch]) -> SchedulingSolution:
        """Convert runs, with times counted from the first release, into a solution, as `taken_over` does."""
        runs = list(runs)
        last = max(*(decimal(run.end) for run in runs), *(task.release for task in self.tasks), 0) + self.origin
        shortest = float(min(task.height for task in self.tasks))
        is_fine = ulp(float(last)) <= FINE_CLOCK * shortest
        if not is_fine:
            runs = retimed(self.tasks, self.gpus, runs)

        def moved(time: Number) -> float | Fraction:
            there = decimal(time) + self.origin if self.origin else time
            return float(there) if is_fine else Fraction(there)

        found = [
            Run(job=run.job, start=moved(run.start), end=moved(run.end), gpus=run.gpus)
            for run in runs
            if moved(run.start) < moved(run.end)
        ]
        return SchedulingSolution(runs=found)

    def objective(self, solution: SchedulingSolution) -> float:
        """Return the mean job completion time in seconds.

        Rounding errors by which a solution breaks rules are tolerated, but do not improve its objective
        (`gsopt.problems.trial`).
        """
        mean = self._trial(solution).mean_jct
        if mean is None:
            raise InvalidSolution("no job completes")
        return float(mean)

    def violations(self, solution: SchedulingSolution) -> list[str]:
        """Return a message for each broken rule, and for each job that misses its fairness deadline."""
        trial = self._trial(solution)
        return [*trial.found, *self._unfair(trial)]

    def measures(self, solution: SchedulingSolution) -> dict[str, Number]:
        """Return further metrics, and the largest delay of a job compared with equal sharing, in seconds."""
        origin = self.origin
        verdict = judge(
            Schedule(
                tuple(
                    Segment(
                        run.job, float(decimal(run.start) - origin), float(decimal(run.end) - origin), run.gpus
                    )
                    for run in solution.runs
                )
            ),
            self.own_clock,
        )
        completions = self._trial(solution).completions
        pairs = zip(completions, self.fair_times, strict=True)
        delays = [completion - fair for completion, fair in pairs if completion is not None]
        if not delays:
            raise InvalidSolution("no job completes")
        return {
            **{key: value for key, value in verdict.as_dict().items() if key not in _STATED},
            "largest delay behind GPS (s)": float(max(delays)),
        }

    def headline(self) -> dict[str, int | float | str]:
        """Return the number of jobs and the number of GPUs."""
        return {"jobs": len(self.jobs), "GPUs": self.gpus}

    @cached_property
    def deadlines(self) -> tuple[Exact, ...] | None:
        """Fairness deadline of each job in `tasks`, plus its tolerance, in seconds after the first release.

        None without `fairness`.
        """
        if self.fairness is None:
            return None
        fairness = decimal(self.fairness)
        fair = self.fair_times
        spans = [time + fairness - task.release for time, task in zip(fair, self.tasks, strict=True)]
        excused = Fraction(SPAN_ERROR)
        return tuple(task.release + span * (1 + excused) for task, span in zip(self.tasks, spans, strict=True))

    @cached_property
    def fair_times(self) -> list[Fraction]:
        """Fair completion time of each job in `tasks`, in seconds after the first release.

        It is the time at which the job would complete if all GPUs were divided equally, like a fluid, among the
        jobs present.
        """
        demand = {job.name: job.demand for job in self.jobs}
        shares = [
            Fraction(task.work) / task.rates[demand[task.name]] * demand[task.name] for task in self.tasks
        ]
        return fair_times(self.tasks, shares, self.gpus)

    def _unfair(self, trial: Trial) -> list[str]:
        if self.deadlines is None or self.fairness is None:
            return []
        fair = self.fair_times
        late = [(job, float((trial.completions[job] or 0) + self.origin)) for job in trial.late(self.deadlines)]
        return [
            f"job {self.tasks[job].name!r} completes at {end:g}, more than the fairness of {self.fairness:g} s "
            f"after its fair share would at {float(fair[job] + self.origin):g}"
            for job, end in late
        ]

    def _trial(self, solution: SchedulingSolution) -> Trial:
        """Check a solution, or return its cached check.

        The last two checks are cached, because each solution is scored, checked and compared.
        """
        for known, trial in tuple(self._judged):
            if known is solution:
                return trial
        rates = {job.name: decimal(job.rates[job.demand]) for job in self.jobs}
        found = Trial(
            self.tasks,
            self.gpus,
            solution.runs,
            origin=self.origin,
            preemptive=self.preemptive,
            demands=[rates[task.name] for task in self.tasks],
        )
        self._judged.append((solution, found))
        return found

    @cached_property
    def _judged(self) -> deque[tuple[SchedulingSolution, Trial]]:
        return deque(maxlen=2)


def _refuse_modes(schedule: Schedule) -> None:
    for index, piece in enumerate(schedule.segments):
        if piece.mode:
            rule = "must be the default mode"
            raise InvalidInput(f"segments[{index}].mode", shorten(piece.mode), rule, source="schedule")
