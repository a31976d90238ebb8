"""Batching: how many GPUs and which batch size each job with an elastic batch size gets."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.errors import shorten
from gsopt.core.numbers.grid import Exact, decimal, whole
from gsopt.core.problem import Frozen, Gpus, Number, Problem, RuleBroken, Sense
from gsopt.performance.batching import BatchingJob
from gsopt.performance.batching.job import Estimate
from gsopt.performance.batching.reach import most_used
from gsopt.performance.batching.throughput import BatchSize, Tabulated
from gsopt.problems.names import Named

#: Maximum number of allowed GPU counts, summed over all jobs.
MOST_OPTIONS = 10_000_000


class Grant(Frozen):
    """The number of GPUs of a running job, and its batch size in samples, summed over these GPUs."""

    gpus: Gpus
    batch_size: BatchSize


class Batches(Frozen):
    """The number of GPUs and the batch size of each running job, keyed by job name.

    Jobs that are left out wait.
    """

    running: Mapping[str, Grant]


class Batching(Problem[Batches]):
    """The problem of dividing GPUs among jobs and choosing batch sizes so that jobs complete soon.

    A running job with X samples per second and Y remaining samples completes in T = Y / X seconds. X depends
    only on the job's number of GPUs c and its batch size; placement is left to a later step. GPUs are not
    shared.

    Source: ONES, section 3.2.1, Equations 1-5, 7 and 8. The paper chooses a local batch for each GPU; here, the
    local batches of a job are as equal as possible. The paper requires every GPU to run a job; here, as many
    GPUs as possible do by default (`use`).

    Attributes
    ----------
    gpus
        Number of GPUs.
    jobs
        The jobs. New jobs are listed in order of arrival.
    criterion
        Sum to optimize over all running jobs, where w is the job's weight. ``sruf`` (smallest remaining
        utilization first): minimize T c / w. ``rate``: maximize w / T, the weighted completions per second;
        every job must have samples left. ``sum_time``: minimize w T; requires ``forced="all"``.
    forced
        Whether no jobs (``none``), new jobs (``new``) or all jobs (``all``) must run as far as GPUs suffice.
        Each job in turn must run if its smallest number of GPUs is left. New jobs are taken in the given order,
        as in the paper's refresh operator. All jobs are taken in ascending order of T on that number of GPUs
        with the fastest batch size.
    caps
        Maximum number of GPUs of a job, where R is its batch limit and b the maximum number of samples on one
        GPU. ``convergence``: ceil(R / b). ``batch``: R (Equations 1-4). ``refresh``: max(1, floor(R c / B)) for
        a job that now runs on c GPUs with a known batch size B, and ceil(R / b) for other jobs, as in the
        paper's operators.
    menu
        Whether a job may have any number of GPUs within its limits (``every``) or only powers of two
        (``doublings``). In both cases, a job with measured throughputs runs only on numbers of GPUs for which
        there is a measurement.
    use
        Whether solutions must use as many GPUs as the other rules permit (``all``) or may use any number
        (``any``).
    reconfiguration
        Cost of each job that starts, stops, or changes its number of GPUs or its batch size, in the unit of the
        objective.
    estimate
        Estimate of a job's remaining samples if their distribution is given. ``mean``: their mean, which must
        be finite; the value of `sruf` is then an expected value (Equation 8). ``mean_progress``: their number
        at the job's mean progress.

    Examples
    --------
    >>> from gsopt.performance.batching import StepTime
    >>> model = StepTime(fixed=0.05, per_sample=0.001)
    >>> problem = Batching(
    ...     gpus=4,
    ...     jobs=[
    ...         BatchingJob(name="a", batch_limit=512, local_limit=256, throughput=model, remaining=200_000),
    ...         BatchingJob(name="b", batch_limit=300, local_limit=100, throughput=model, remaining=90_000),
    ...     ],
    ... )
    >>> chosen = Batches(running={"a": Grant(gpus=2, batch_size=512), "b": Grant(gpus=2, batch_size=200)})
    >>> float(problem.objective(chosen)), problem.violations(chosen), problem.target
    (374.0625, [], 4)
    """

    word: ClassVar[str] = "batching"
    solution_type: ClassVar[type[Frozen]] = Batches

    problem: Literal["batching"] = "batching"
    gpus: Annotated[int, Field(ge=0, le=1_000_000)]
    jobs: Named[BatchingJob]
    criterion: Literal["sruf", "rate", "sum_time"] = "sruf"
    forced: Literal["none", "new", "all"] = "all"
    caps: Literal["convergence", "batch", "refresh"] = "convergence"
    menu: Literal["every", "doublings"] = "every"
    use: Literal["all", "any"] = "all"
    reconfiguration: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    estimate: Estimate = "mean"

    @model_validator(mode="after")
    def _means_are_finite(self) -> "Batching":
        for index, job in enumerate(self.jobs):
            if job.progress is not None and job.progress.alpha == 1 and self.estimate == "mean":
                rule = "must be above 1, as the mean is infinite otherwise, or estimate must be mean_progress"
                raise RuleBroken(f"jobs[{index}].progress.alpha", job.progress.alpha, rule)
            if self.criterion == "rate" and job.remaining == 0:
                rule = "must be above 0 with the criterion rate"
                raise RuleBroken(f"jobs[{index}].remaining", job.remaining, rule)
        if self.criterion == "sum_time" and self.forced != "all":
            rule = "must be all with the criterion sum_time, which is least when no job runs"
            raise RuleBroken("forced", self.forced, rule)
        return self

    @model_validator(mode="after")
    def _options_can_be_counted(self) -> "Batching":
        options = sum(min(self.cap(job), self.gpus) for job in self.jobs)
        if options > MOST_OPTIONS:
            rule = f"must allow at most {MOST_OPTIONS:,} numbers of GPUs together"
            raise RuleBroken("jobs", f"{options:,} numbers of GPUs", rule)
        return self

    @property
    def sense(self) -> Sense:  # type: ignore[override]  # a constant in other decisions
        """Whether to maximize (for `rate`) or to minimize (for the other criteria)."""
        return Sense.MAXIMIZE if self.criterion == "rate" else Sense.MINIMIZE

    @property
    def unit(self) -> str:
        """Unit of the objective, which depends on the criterion."""
        return {"sruf": "GPU-seconds", "rate": "completions per second", "sum_time": "seconds"}[self.criterion]

    # What the jobs may have

    def cap(self, job: BatchingJob) -> int:
        """Return the maximum number of GPUs of a job under the rule `caps`, even if the cluster is smaller."""
        limit = job.batch_limit
        if self.caps == "batch":
            return limit
        if self.caps == "refresh" and job.previous_batch is not None:
            return max(1, limit * job.previous_gpus // job.previous_batch)
        return -(-limit // job.local_limit)

    @cached_property
    def counts(self) -> tuple[Sequence[int], ...]:
        """Allowed numbers of GPUs, one ascending sequence per job."""
        return tuple(self._counts(job) for job in self.jobs)

    def _counts(self, job: BatchingJob) -> Sequence[int]:
        numbers: Sequence[int] = range(job.min_gpus, min(self.cap(job), job.batch_limit, self.gpus) + 1)
        if self.menu == "doublings":
            numbers = [number for number in numbers if number & (number - 1) == 0]
        if isinstance(job.throughput, Tabulated):
            numbers = [number for number in numbers if job.runs_on(number)]
        return numbers

    @cached_property
    def required(self) -> frozenset[str]:
        """Names of the jobs that must run according to `forced`."""
        places = [place for place, counts in enumerate(self.counts) if counts]
        if self.forced == "all":
            places.sort(key=self._least_time)
        elif self.forced == "new":
            places = [place for place in places if self.jobs[place].new]
        else:
            return frozenset()
        left, chosen = self.gpus, set[str]()
        for place in places:
            if self.counts[place][0] <= left:
                left -= self.counts[place][0]
                chosen.add(self.jobs[place].name)
        return frozenset(chosen)

    def _least_time(self, place: int) -> Exact:
        """Return a job's shortest time to completion, in seconds, on its smallest number of GPUs."""
        job, gpus = self.jobs[place], self.counts[place][0]
        return self.time(job, Grant(gpus=gpus, batch_size=job.fastest(gpus) or gpus))

    @cached_property
    def target(self) -> int:
        """Lower limit on the number of GPUs in use: as many as other rules permit, or 0 if `use` is ``any``."""
        return most_used(self.gpus, self._menus()) if self.use == "all" else 0

    def _menus(self) -> Iterator[tuple[Sequence[int], bool]]:
        for job, counts in zip(self.jobs, self.counts, strict=True):
            yield counts, job.name in self.required

    # The judge

    def time(self, job: BatchingJob, grant: Grant) -> Exact:
        """Return the time in seconds until a job completes if it keeps the given grant."""
        return Fraction(job.left(self.estimate)) / job.throughput.samples_per_second(
            grant.batch_size, grant.gpus
        )

    def worth(self, job: BatchingJob, grant: Grant) -> Exact:
        """Return a running job's term in the objective, without the cost of reconfiguration."""
        time, weight = self.time(job, grant), decimal(job.weight)
        if self.criterion == "sruf":
            return whole(Fraction(time) * grant.gpus / weight)
        return whole(Fraction(weight) / time if self.criterion == "rate" else Fraction(time) * weight)

    def objective(self, solution: Batches) -> Exact:
        """Return the sum of the running jobs' terms, plus (for `rate`: minus) the reconfiguration costs."""
        running = solution.running
        counted = [self.worth(job, running[job.name]) for job in self.jobs if job.name in running]
        changed = sum(_changes(job, running.get(job.name)) for job in self.jobs)
        cost = decimal(self.reconfiguration) * changed
        return _total([*counted, -cost if self.criterion == "rate" else cost])

    def violations(self, solution: Batches) -> list[str]:
        """Return a message for each broken rule about grants, required jobs, or the number of GPUs in use."""
        running, places = solution.running, {job.name: place for place, job in enumerate(self.jobs)}
        found = [f"running: {name!r} is not a job of the instance" for name in running if name not in places]
        for name, grant in running.items():
            if name in places:
                found += self._broken(places[name], grant)
        found += [f"running: {name!r} must run" for name in sorted(self.required - running.keys())]
        used = sum(grant.gpus for grant in running.values())
        if used > self.gpus:
            found.append(f"running: {used} GPUs are used, there are {self.gpus}")
        if used < self.target:
            found.append(f"running: {used} GPUs are used, {self.target} can be")
        return found

    def _broken(self, place: int, grant: Grant) -> Iterator[str]:
        job, counts = self.jobs[place], self.counts[place]
        if grant.gpus not in counts:
            yield f"running: {job.name!r} gets {grant.gpus} GPUs, must be {_said(counts)}"
        elif not job.allows(grant.batch_size, grant.gpus):
            most = job.largest(grant.gpus)
            known = " of those measured" if isinstance(job.throughput, Tabulated) else ""
            rule = f"must be between {grant.gpus} and {most}{known} on {grant.gpus} GPUs"
            yield f"running: {job.name!r} has a batch of {grant.batch_size}, {rule}"

    # Around it

    def sampled(self, seed: int = 0) -> "Batching":
        """Return the problem with a random number in place of each distribution of remaining samples.

        Algorithm 1 of the paper draws such numbers and then picks the best solution in its population. The
        optimum of the returned problem is the best of all solutions for the numbers drawn.

        Examples
        --------
        >>> from gsopt.performance.batching import Progress, StepTime
        >>> believed = Progress(alpha=2, beta=3, processed=1000)
        >>> model = StepTime(fixed=0.05, per_sample=0.001)
        >>> job = BatchingJob(name="a", batch_limit=8, local_limit=8, throughput=model, progress=believed)
        >>> round(Batching(gpus=1, jobs=[job]).sampled(seed=1).jobs[0].remaining)
        7432
        """
        random = Random(seed)
        drawn = [
            job
            if job.progress is None
            else job.model_copy(update={"remaining": job.progress.draw(random), "progress": None})
            for job in self.jobs
        ]
        return self.model_copy(update={"jobs": tuple(drawn), "about": None})

    def headline(self) -> dict[str, int | float | str]:
        """Return the numbers of jobs and GPUs, and the criterion."""
        return {"jobs": len(self.jobs), "gpus": self.gpus, "criterion": self.criterion}

    def measures(self, solution: Batches) -> dict[str, Number]:
        """Return the number of running jobs and the number of idle GPUs."""
        used = sum(grant.gpus for grant in solution.running.values())
        return {"running_jobs": len(solution.running), "idle_gpus": self.gpus - used}

    def candidates(self) -> Iterator[Batches]:
        """Yield every combination in which each job waits or has an allowed grant, even infeasible ones."""
        menus = [list(self._grants(place)) for place in range(len(self.jobs))]
        for chosen in product(*menus):
            grants = zip(self.jobs, chosen, strict=True)
            yield Batches(running={job.name: grant for job, grant in grants if grant is not None})

    def _grants(self, place: int) -> Iterator[Grant | None]:
        yield None
        job = self.jobs[place]
        for gpus in self.counts[place]:
            for size in range(gpus, job.largest(gpus) + 1):
                if job.allows(size, gpus):
                    yield Grant(gpus=gpus, batch_size=size)


def _changes(job: BatchingJob, grant: Grant | None) -> bool:
    return job.changes(0, 0) if grant is None else job.changes(grant.batch_size, grant.gpus)


def _said(counts: Sequence[int]) -> str:
    """Describe, for messages, how many GPUs a job may have."""
    if not counts:
        return "none: none is allowed"
    if isinstance(counts, range):
        return f"{counts[0]} to {counts[-1]}"
    return f"one of {shorten(tuple(counts))}"


def _total(values: Sequence[Exact]) -> Exact:
    """Add fractions in pairs, as in a binary tree, and reduce only the final total.

    With the objective `rate`, nearly every term has a different denominator, and a plain sum would reduce
    ever longer fractions.
    """
    parts = [value.as_integer_ratio() for value in values]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [(a * d + c * b, b * d) if b != d else (a + c, b) for (a, b), (c, d) in pairs] + odd
    return whole(Fraction(*parts[0])) if parts else 0
