"""Waiting over time: when and where each job starts if GPUs that are closer together may be worth the wait."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, permutations, product
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.clock import clock_error
from gsopt.core.numbers.grid import Exact, ceil_to, decimal, exact_total, step, whole
from gsopt.core.problem import Frozen, Instant, Many, Name, Number, Problem, RuleBroken, Sense
from gsopt.problems.names import Named
from gsopt.problems.rigid import require_rigid
from gsopt.scenario.cluster import Cluster, Tier
from gsopt.scenario.job import LATEST, LEAST, Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed, TierPenalty, require_levels
from gsopt.schedule import Schedule, Segment

#: Index of a GPU in the cluster.
Gpu = Annotated[int, Field(ge=0, le=10_000_000)]


class Run(Frozen):
    """A job's run, on the same GPUs from its start to its end.

    Attributes
    ----------
    job
        Name of the job.
    start
        Start time in seconds: a fraction, or a float, which is read as its shortest decimal form, such as 0.1.
    gpus
        Indices of the job's GPUs.
    """

    job: Name
    start: Instant
    gpus: Annotated[Many[Gpu], Field(min_length=1)]


class CellShare(NamedTuple):
    """The number of GPUs that a job holds in each cell, that is, in each group at the innermost tier.

    Attributes
    ----------
    job
        Index of the job.
    counts
        Number of GPUs that the job holds in each cell, keyed by cell index. Cells without GPUs of the job are
        left out.
    """

    job: int
    counts: Mapping[int, int]


class WaitingSolution(Frozen):
    """The start time and the GPUs of every job."""

    runs: Many[Run]


class Waiting(Problem[WaitingSolution]):
    """The problem of starting rigid jobs on the GPUs of a cluster with tiers.

    A job runs for its duration times 1 + s. The penalty s is that of its model for the narrowest network tier
    that connects its GPUs. A job is neither interrupted nor moved, so it may pay to wait for GPUs that are
    closer together. GPUs are not shared.

    Source: Dally, section III-B, for the running times. The paper schedules online and with preemption; here,
    all jobs are known in advance, and there is no preemption.

    Attributes
    ----------
    cluster
        The cluster, which must have racks or a network.
    jobs
        The jobs, in any order. Each runs on exactly as many GPUs as it demands.
    penalties
        Exposed communication time per unit of computation time, by model and tier; by default, Dally's Table I.
        A wider tier must not have a lower penalty. Jobs on one GPU and models that are not listed have no
        penalty.
    minimize
        Objective. ``"mean_jct"``: the mean time from release to end. ``"makespan"``: the time from the first
        release to the last end.
    slot
        Length of a time slot in seconds; running times are rounded up to whole slots. None for no rounding.

    Examples
    --------
    >>> jobs = [Job(name=n, release_date=0, duration=10, gpus=2, model="alexnet") for n in "ab"]
    >>> problem = Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=jobs)
    >>> def at_once(*gpus: list[int]) -> WaitingSolution:
    ...     return WaitingSolution(runs=[Run(job=n, start=0, gpus=own) for n, own in zip("ab", gpus)])
    >>> problem.objective(at_once([0, 1], [2, 3])), problem.objective(at_once([0, 2], [1, 3]))
    (Fraction(51, 5), Fraction(113, 10))
    """

    word: ClassVar[str] = "waiting"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = WaitingSolution

    problem: Literal["waiting"] = "waiting"
    cluster: Cluster
    jobs: Annotated[Named[Job], Field(min_length=1)]
    penalties: Mapping[Name, TierPenalty] = Field(default_factory=lambda: dict(TIER_PENALTIES))
    minimize: Literal["mean_jct", "makespan"] = "mean_jct"
    slot: Annotated[float, Field(ge=LEAST, le=LATEST)] | None = None

    @model_validator(mode="after")
    def _rules_hold(self) -> "Waiting":
        if self.cluster.is_plain:
            raise RuleBroken(
                "cluster.plain_gpus",
                self.cluster.plain_gpus,
                "must be 0: the cluster must have racks or a network",
            )
        require_levels("penalties", self.penalties, self.tiers)
        require_rigid(self.jobs, memory=False)
        for index, job in enumerate(self.jobs):
            if job.gpus > self.cluster.gpus:
                rule = f"must fit the {self.cluster.gpus} GPUs of the cluster"
                raise RuleBroken(f"jobs[{index}].gpus", job.gpus, rule)
        for model, penalty in self.penalties.items():
            for inner, outer in pairwise(self.tiers):
                near, far = penalty.of(inner, self.tiers), penalty.of(outer, self.tiers)
                if far < near:
                    rule = f"must be at least the {near:g} of the tier {inner!s}"
                    raise RuleBroken(f"penalties[{model}].{outer}", far, rule)
        for index, job in enumerate(self.jobs):
            if self.run_time(job, self.tiers[-1]) > LATEST:
                rule = f"must take at most {LATEST:g} s on the widest tier"
                raise RuleBroken(f"jobs[{index}].duration", job.duration, rule)
        return self

    @property
    def unit(self) -> str:
        """Unit of the objective, which depends on `minimize`."""
        return {"mean_jct": "seconds of mean job completion time", "makespan": "seconds of makespan"}[
            self.minimize
        ]

    @property
    def step(self) -> Fraction | None:
        """A divisor of the optimum, and of the value of any schedule without avoidable delays.

        In such a schedule, each job starts at a release date or when another job ends. The divisor is the
        greatest common divisor of all running times and release dates, where release dates are counted from the
        first one. For the mean job completion time, this is divided by the number of jobs.
        """
        times = [time for job in self.jobs for time in self.run_times(job)]
        common = step([*times, *(self._release(job) - self.origin for job in self.jobs)])
        return common if common is None or self.minimize == "makespan" else common / len(self.jobs)

    @cached_property
    def origin(self) -> Exact:
        """The first release date, in seconds."""
        return min(self._release(job) for job in self.jobs)

    @property
    def tiers(self) -> tuple[str, ...]:
        """Names of the tiers, innermost first."""
        return self.cluster.levels

    @cached_property
    def groups(self) -> tuple[tuple[range, ...], ...]:
        """GPU indices of the groups at each tier: one tuple of groups per tier, innermost tier first.

        The groups at the innermost tier are called cells.
        """
        return tuple(tuple(group.gpus for group in self.cluster.groups[tier]) for tier in self.tiers)

    @property
    def cells(self) -> tuple[range, ...]:
        """GPU indices of each cell, that is, of each group at the innermost tier.

        The GPUs of a cell are interchangeable.
        """
        return self.groups[0]

    def run_time(self, job: Job, tier: str) -> Exact:
        """Return the running time of a job, in seconds, on GPUs connected by the given tier.

        Examples
        --------
        >>> job = Job(name="a", release_date=0, duration=10, gpus=2, model="alexnet")
        >>> problem = Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=2), jobs=[job], slot=1)
        >>> [problem.run_time(job, tier) for tier in ("machine", "rack", "network")]
        [11, 12, 20]
        """
        penalty = self.penalties.get(job.model) if job.gpus > 1 else None
        seconds = decimal(job.duration) * (1 + (decimal(penalty.of(tier, self.tiers)) if penalty else 0))
        return whole(seconds) if self.slot is None else ceil_to(seconds, decimal(self.slot))

    def run_times(self, job: Job) -> tuple[Exact, ...]:
        """Return the running times of a job in seconds, one per tier, innermost first."""
        return tuple(self.run_time(job, tier) for tier in self.tiers)

    def objective(self, solution: WaitingSolution) -> Exact:
        """Return the mean job completion time or the makespan, in seconds."""
        return self._values(solution)[self.minimize]

    def violations(self, solution: WaitingSolution) -> list[str]:
        """Return a message for each broken rule.

        Whether two jobs hold a GPU at the same time is only checked if the runs break no other rule.
        """
        found = list(broken_runs(solution.runs, self.jobs, self.cluster.gpus))
        return found or list(self._crowded(solution))

    def measures(self, solution: WaitingSolution) -> dict[str, Number]:
        """Return the mean JCT or the makespan, whichever is not the objective, and the time lost to tiers.

        The time lost to tiers is the total number of seconds by which jobs run longer than they would on the
        innermost tier.
        """
        values = self._values(solution)
        del values[self.minimize]
        lost = (self._length(run) - self.run_times(self._job_of[run.job])[0] for run in solution.runs)
        return {**values, "seconds lost to tiers": exact_total(lost)}

    def headline(self) -> dict[str, int | float | str]:
        """Return the numbers of jobs and GPUs, and the objective."""
        return {"jobs": len(self.jobs), "GPUs": self.cluster.gpus, "minimize": self.minimize}

    def candidates(self) -> Iterator[WaitingSolution]:
        """Yield a schedule for each order of starts and each distribution of the jobs' GPUs over the `cells`.

        Jobs start as early as the order and the cells allow.
        """
        sizes = [len(cell) for cell in self.cells]
        shares = [
            [
                {cell: count for cell, count in enumerate(counts) if count}
                for counts in product(*(range(min(size, job.gpus) + 1) for size in sizes))
                if sum(counts) == job.gpus
            ]
            for job in self.jobs
        ]
        for order in permutations(range(len(self.jobs))):
            for counts in product(*(shares[job] for job in order)):
                yield self.started([CellShare(*pair) for pair in zip(order, counts, strict=True)])

    @cached_property
    def workload(self) -> Workload:
        """The jobs as a workload, with times counted from the first release date.

        If running times are rounded, `Job.model` and `Job.duration` are changed so that the simulator, with the
        penalties in `scenario`, uses the rounded times.
        """
        return Workload(name=self.name, jobs=[self._as_simulated(job) for job in self.jobs])

    @cached_property
    def scenario(self) -> Scenario:
        """The workload, the cluster and the penalties of the tiers, as a scenario for the simulator."""
        tiers = dict(self.penalties)
        if self.slot is not None:
            tiers = {self._as_simulated(job).model: self._rounded_penalty(job) for job in self.jobs}
        return Scenario(workload=self.workload, cluster=self.cluster, speed=Speed(tiers=tiers))

    def started(self, shares: Sequence[CellShare]) -> WaitingSolution:
        """Start the jobs in the given order, each as soon as its cells have enough free GPUs.

        No job starts before its release date, or before the job ahead of it in this order.

        Examples
        --------
        >>> jobs = [Job(name=n, release_date=0, duration=10, gpus=2) for n in "ab"]
        >>> problem = Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=jobs)
        >>> [run.start for run in problem.started([CellShare(1, {0: 2}), CellShare(0, {0: 1, 1: 1})]).runs]
        [0.0, 10.0]
        """
        free_from: dict[int, Exact] = {}
        now = self.origin
        runs = []
        for index, counts in shares:
            job = self.jobs[index]
            now = max(now, self._release(job))
            chosen: list[int] = []
            for cell, count in counts.items():
                first = sorted(self.cells[cell], key=lambda gpu: (free_from.get(gpu, 0), gpu))[:count]
                now = max(now, *(free_from.get(gpu, 0) for gpu in first))
                chosen += first
            run = Run(job=job.name, start=Fraction(now), gpus=sorted(chosen))
            free_from.update(dict.fromkeys(chosen, self._end(run)))
            runs.append(run)
        return WaitingSolution(runs=runs)

    def taken_over(self, schedule: Schedule) -> WaitingSolution:
        """Convert a schedule of the scenario into a solution with exact times.

        A start that differs from a release date or from the end of a job only by rounding is moved to that
        time. A job that would start before its release date or before its GPUs are free is delayed until then.

        Raises
        ------
        InvalidInput
            A job is unknown, interrupted or moved.

        Examples
        --------
        >>> job = Job(name="a", release_date=5, duration=10, gpus=2)
        >>> problem = Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=[job])
        >>> problem.taken_over(Schedule((Segment("a", 0, 10, 2, (0, 1)),))).runs
        (Run(job='a', start=5.0, gpus=(0, 1)),)
        """
        known = sorted({self._release(job) - self.origin for job in self.jobs})
        free_from: dict[int, Exact] = {}
        last: Exact = 0
        busy_since: Exact = 0
        runs = []
        for first in sorted(first_segments(schedule, self._job_of), key=lambda segment: segment.start):
            job, given = self._job_of[first.job], float(first.start)
            ready = max([self._release(job) - self.origin, *(free_from.get(gpu, 0) for gpu in first.placement)])
            busy_since = busy_since if ready < last else ready
            excuse = Fraction(clock_error(given, max(given - float(busy_since), 0.0)))
            place = bisect_left(known, max(ready, decimal(given) - excuse))
            at_known = place < len(known) and known[place] <= decimal(given) + excuse
            start = known[place] if at_known else max(ready, decimal(given))
            run = Run(job=first.job, start=Fraction(self.origin + start), gpus=sorted(first.placement))
            end = start + self._length(run)
            insort(known, end)
            last = max(last, end)
            free_from.update(dict.fromkeys(first.placement, end))
            runs.append(run)
        return WaitingSolution(runs=runs)

    def schedule(self, solution: WaitingSolution) -> Schedule:
        """Convert a solution into a schedule of the scenario, for plots."""
        return Schedule(
            tuple(
                Segment(run.job, float(start), float(start + self._length(run)), len(run.gpus), tuple(run.gpus))
                for run in solution.runs
                for start in (decimal(run.start) - self.origin,)
            )
        )

    # The judge

    def _crowded(self, solution: WaitingSolution) -> Iterator[str]:
        last: dict[int, Run] = {}
        for run in sorted(solution.runs, key=lambda run: decimal(run.start)):
            for gpu in run.gpus:
                if gpu in last and self._end(last[gpu]) > decimal(run.start):
                    yield f"GPU {gpu} is held by jobs {last[gpu].job!r} and {run.job!r} at {float(run.start):g}"
                last[gpu] = run

    def _values(self, solution: WaitingSolution) -> dict[str, Exact]:
        ends = {run.job: self._end(run) for run in solution.runs}
        total = sum(ends[job.name] - self._release(job) for job in self.jobs)
        return {
            "mean_jct": whole(Fraction(total) / len(self.jobs)),
            "makespan": whole(max(ends.values()) - self.origin),
        }

    def _length(self, run: Run) -> Exact:
        return self.run_time(self._job_of[run.job], self.cluster.tier(run.gpus))

    def _end(self, run: Run) -> Exact:
        return decimal(run.start) + self._length(run)

    @staticmethod
    def _release(job: Job) -> Exact:
        return decimal(job.release_date)

    @cached_property
    def _job_of(self) -> dict[str, Job]:
        return {job.name: job for job in self.jobs}

    # The simulator

    def _as_simulated(self, job: Job) -> Job:
        own: dict[str, Any] = {"release_date": float(self._release(job) - self.origin)}
        if job.deadline is not None:
            own["deadline"] = float(decimal(job.deadline) - self.origin)
        if self.slot is not None:
            own |= {"model": f"{job.model} of {job.name}"[:200], "duration": float(self.run_times(job)[0])}
        return job.model_copy(update=own)

    def _rounded_penalty(self, job: Job) -> TierPenalty:
        """Return penalties, relative to the innermost tier, that produce a job's rounded running times."""
        first, *_ = times = self.run_times(job)
        longer = {tier: float(time / Fraction(first) - 1) for tier, time in zip(self.tiers, times, strict=True)}
        return TierPenalty(**dict.fromkeys(map(str, Tier), max(longer.values())) | longer)


def broken_runs(
    runs: Sequence[Run], jobs: Sequence[Job], gpus: int, excuse: Callable[[Number], Number] | None = None
) -> Iterator[str]:
    """Yield a message for each rule that the runs break, except for conflicts between jobs.

    A run may start before the job's release date by at most the number of seconds that `excuse` returns for
    the start; if `excuse` is None, it may not start before the release date.
    """
    job_of = {job.name: job for job in jobs}
    for index, run in enumerate(runs):
        if run.job not in job_of:
            yield f"runs[{index}]: {run.job!r} is not a job of the instance"
            continue
        job = job_of[run.job]
        if len(run.gpus) != job.gpus or len(set(run.gpus)) != job.gpus:
            yield f"runs[{index}]: job {job.name!r} must run on {job.gpus} different GPUs"
        if any(gpu >= gpus for gpu in run.gpus):
            yield f"runs[{index}]: GPUs must be numbered from 0 to {gpus - 1}"
        if decimal(run.start) + (excuse(run.start) if excuse else 0) < decimal(job.release_date):
            start = f"{float(run.start):g}, before its release at {job.release_date:g}"
            yield f"runs[{index}]: job {job.name!r} starts at {start}"
    times = Counter(run.job for run in runs)
    for job in jobs:
        if times[job.name] != 1:
            yield f"job {job.name!r} runs {times[job.name]} times, must run once"


def first_segments(schedule: Schedule, jobs: Container[str]) -> list[Segment]:
    """Return the first segment of every job, after checking that later ones continue it on the same GPUs.

    Raises
    ------
    InvalidInput
        A job is not among `jobs`, or is interrupted or moved.
    """
    found: dict[str, Segment] = {}
    ends: dict[str, float] = {}
    for segment in sorted(schedule.segments, key=lambda segment: segment.start):
        if segment.job not in jobs:
            raise InvalidInput("job", shorten(segment.job), "must be a job of the problem", source="schedule")
        first = found.setdefault(segment.job, segment)
        if first is not segment and (segment.start, set(segment.placement)) != (
            ends[segment.job],
            set(first.placement),
        ):
            rule = "must run from its start to its end on the same GPUs"
            raise InvalidInput("job", shorten(segment.job), rule, source="schedule")
        ends[segment.job] = segment.end
    return list(found.values())
