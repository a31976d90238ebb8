"""Batching: the GPUs and the batch size of each job whose batch is elastic."""

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

#: Numbers of GPUs that all jobs together may have to choose from.
MOST_OPTIONS = 10_000_000


class Grant(Frozen):
    """What a running job gets: its GPUs, and the samples of a batch over all of them."""

    gpus: Gpus
    batch_size: BatchSize


class Batches(Frozen):
    """The running jobs, by name; a job that is not named waits."""

    running: Mapping[str, Grant]


class Batching(Problem[Batches]):
    """Divide GPUs among jobs, and choose their batch sizes, so that little work, or time, is left.

    With X samples per second and Y samples left a job completes in T = Y / X seconds. The jobs share no GPU,
    and where they stand matters to communication only: they are packed afterwards.

    **What counts.** `sruf`: the least utilization, sum of T c over running jobs on c GPUs each (smallest
    remaining utilization first). `rate`: the most completions per second, sum of 1 / T. `sum_time`: the least
    sum of T. With weights w these are T c / w, w / T and w T. Each job that is reconfigured costs
    `reconfiguration` more, in the same unit.

    **Who must run.** Waiting jobs cost nothing, so by `sruf` alone the few jobs with least work run, each as
    wide as it may, however many there are: shortest job first at full width, which the paper means to avoid.
    With `forced` the new jobs (as the paper's refresh does), or all, must run: of new jobs those listed first,
    of all those with the least T on their fewest GPUs, as many as there are GPUs for. `sum_time` needs all:
    then as many jobs run as can, where a job may have a single GPU.

    **How many GPUs.** The printed rule that every GPU has a job cannot be kept where the limits of the jobs
    leave some over. So all GPUs are used that can be, which `target` counts.

    Source: ONES, section 3.2.1, Equations 1-5, 7 and 8. Equal local batches take the place of a batch for every
    GPU (Equation 1): the largest one sets the step.

    Attributes
    ----------
    gpus
        GPUs to divide.
    jobs
        The jobs; new ones in the order of their arrival.
    criterion
        What counts.
    forced
        Who must run: nobody, new jobs, or all.
    caps
        Most GPUs of a job. ``convergence``: ceil(R / b) for a batch limit R and b samples on a GPU; more GPUs
        would only make local batches smaller. ``batch``: R, one sample on each, as Equations 1-4 allow.
        ``refresh``: as the paper's operators, which keep the local batch: floor(R c / B) for a job that ran on
        c GPUs with a batch of B, at least 1, and ceil(R / b) otherwise.
    menu
        Whether a job may have every number of GPUs, or powers of two only.
    use
        Whether all GPUs are used that can be, or any number.
    reconfiguration
        What each job costs that starts, stops, or gets other GPUs or another batch size.
    estimate
        What stands for the samples left where only their distribution is known. As the first sum is linear in
        them, their means give its mean (Equation 8).

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
                rule = "must be above 1, the mean of what is left is infinite, or estimate mean_progress"
                raise RuleBroken(f"jobs[{index}].progress.alpha", job.progress.alpha, rule)
            if self.criterion == "rate" and job.remaining == 0:
                rule = "must be above 0 where completions per second count"
                raise RuleBroken(f"jobs[{index}].remaining", job.remaining, rule)
        if self.criterion == "sum_time" and self.forced != "all":
            rule = "must be all where criterion is sum_time: it is least when nobody runs"
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
        """Whether less or more counts."""
        return Sense.MAXIMIZE if self.criterion == "rate" else Sense.MINIMIZE

    @property
    def unit(self) -> str:
        """What the criterion counts."""
        return {"sruf": "GPU-seconds", "rate": "completions per second", "sum_time": "seconds"}[self.criterion]

    # What the jobs may have

    def cap(self, job: BatchingJob) -> int:
        """Return the most GPUs of a job, as if there were enough."""
        limit = job.batch_limit
        if self.caps == "batch":
            return limit
        if self.caps == "refresh" and job.previous_batch is not None:
            return max(1, limit * job.previous_gpus // job.previous_batch)
        return -(-limit // job.local_limit)

    @cached_property
    def counts(self) -> tuple[Sequence[int], ...]:
        """The numbers of GPUs that each job may run on, rising, in the order of the jobs."""
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
        """Names of the jobs that must run: those of the forced set for whose fewest GPUs there is room."""
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
        """Return the seconds until a job completes on its fewest GPUs."""
        job, gpus = self.jobs[place], self.counts[place][0]
        return self.time(job, Grant(gpus=gpus, batch_size=job.fastest(gpus) or gpus))

    @cached_property
    def target(self) -> int:
        """GPUs that every solution uses, where all are used that can be; 0 otherwise."""
        return most_used(self.gpus, self._menus()) if self.use == "all" else 0

    def _menus(self) -> Iterator[tuple[Sequence[int], bool]]:
        for job, counts in zip(self.jobs, self.counts, strict=True):
            yield counts, job.name in self.required

    # The judge

    def time(self, job: BatchingJob, grant: Grant) -> Exact:
        """Return the seconds until a job completes, if it keeps what it gets."""
        return Fraction(job.left(self.estimate)) / job.throughput.samples_per_second(
            grant.batch_size, grant.gpus
        )

    def worth(self, job: BatchingJob, grant: Grant) -> Exact:
        """Return what a running job counts, before any reconfiguration."""
        time, weight = self.time(job, grant), decimal(job.weight)
        if self.criterion == "sruf":
            return whole(Fraction(time) * grant.gpus / weight)
        return whole(Fraction(weight) / time if self.criterion == "rate" else Fraction(time) * weight)

    def objective(self, solution: Batches) -> Exact:
        """Add up what running jobs count, and what reconfigured ones cost."""
        running = solution.running
        counted = [self.worth(job, running[job.name]) for job in self.jobs if job.name in running]
        changed = sum(_changes(job, running.get(job.name)) for job in self.jobs)
        cost = decimal(self.reconfiguration) * changed
        return _total([*counted, -cost if self.criterion == "rate" else cost])

    def violations(self, solution: Batches) -> list[str]:
        """Check that jobs have what they may have, that those run that must, and that the GPUs are used."""
        running, places = solution.running, {job.name: place for place, job in enumerate(self.jobs)}
        found = [f"running: {name!r} is no job of the instance" for name in running if name not in places]
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
        """Draw what is left of every job whose progress is a distribution.

        The optimum of the drawn problem is that of one sample of Algorithm 1 over all solutions, where the
        paper's search has those of its population.

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
        """Return the number of jobs and of GPUs, and what counts."""
        return {"jobs": len(self.jobs), "gpus": self.gpus, "criterion": self.criterion}

    def measures(self, solution: Batches) -> dict[str, Number]:
        """Jobs that run, and GPUs that stay idle."""
        used = sum(grant.gpus for grant in solution.running.values())
        return {"running_jobs": len(solution.running), "idle_gpus": self.gpus - used}

    def candidates(self) -> Iterator[Batches]:
        """Enumerate every number of GPUs and every batch size of each job."""
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
    """Say in a few words which numbers of GPUs a job may have."""
    if not counts:
        return "none: none is allowed"
    if isinstance(counts, range):
        return f"{counts[0]} to {counts[-1]}"
    return f"one of {shorten(tuple(counts))}"


def _total(values: Sequence[Exact]) -> Exact:
    """Add fractions in pairs and pairs of pairs, and reduce the total once.

    Completions per second have as many different denominators as there are jobs. One after the other, each
    addition would look for common factors of longer and longer numbers.
    """
    parts = [value.as_integer_ratio() for value in values]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [(a * d + c * b, b * d) if b != d else (a + c, b) for (a, b), (c, d) in pairs] + odd
    return whole(Fraction(*parts[0])) if parts else 0
