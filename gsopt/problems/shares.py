"""Shares: the share of the time for which each job runs on each GPU type."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.numbers.grid import Exact, Number, decimal, exact_dot, exact_total, floor_digits, whole
from gsopt.core.numbers.tolerances import SHARE_SUM, SHARE_VALUE
from gsopt.core.problem import Frozen, Gpus, Name, Problem, RuleBroken, Sense
from gsopt.problems.names import Named
from gsopt.scenario.job import LEAST, Seconds

#: Steps per second; 0 on a GPU type on which the job cannot run.
Throughput = Annotated[float, Field(ge=0, le=1e9)]


#: Number of significant digits of a share: as many as every double preserves.
_DIGITS = 15

Criterion = Literal["max_min", "finish_time", "makespan", "fifo", "max_sum"]


class TypedJob(Frozen):
    """A job whose throughput is known for each GPU type.

    Attributes
    ----------
    gpus
        Number of GPUs that the job needs, all of the same type.
    throughputs
        Steps per second on that many GPUs, keyed by GPU type. The job cannot run on types whose entry is 0 or
        missing.
    steps
        Number of remaining steps.
    weight
        Weight of the job under the criterion `max_min`.
    age
        Time since the job arrived, in seconds.
    isolated
        Time in seconds that the steps done so far would have taken with the job's isolated shares
        (`Shares.isolated_shares`).

    Examples
    --------
    >>> TypedJob(name="a", gpus=2, throughputs={"v100": 4.0, "k80": 1.0}, steps=1e6).weight
    1.0
    """

    name: Name
    gpus: Gpus = 1
    throughputs: Mapping[Name, Throughput]
    steps: Annotated[float, Field(ge=LEAST, le=1e15)] = 1.0
    weight: Annotated[float, Field(ge=LEAST, le=1e9)] = 1.0
    age: Seconds = 0.0
    isolated: Seconds = 0.0

    @model_validator(mode="after")
    def _throughputs_are_not_tiny(self) -> "TypedJob":
        for kind, rate in self.throughputs.items():
            if 0 < rate < LEAST:
                raise RuleBroken(f"throughputs.{kind}", rate, f"must be 0 or at least {LEAST:g}")
        return self


class TimeShares(Frozen):
    """The share of the time for which each job runs on each GPU type, keyed by job name and type.

    Missing entries count as 0.
    """

    shares: Mapping[str, Mapping[str, Annotated[float, Field(ge=0, le=1)]]]


class Shares(Problem[TimeShares]):
    """The problem of dividing the time of GPUs of several types among jobs with fixed numbers of GPUs.

    A job runs on one type at a time, on all its GPUs at once. Job m runs on type t for a share x_mt of the
    time, at a_mt steps per second; a_mt is 0 if the type has fewer GPUs than the job needs. The job has the
    throughput r_m = sum_t a_mt x_mt, and its shares add up to at most 1. On each type, the mean number of GPUs
    in use is at most the type's number of GPUs.

    **Criteria.** Job m needs z_m GPUs. Its weight w_m, remaining steps s_m, age_m and isolated_m are fields of
    `TypedJob`. There are M_t GPUs of type t, M GPUs in total, and J jobs.

    - `max_min` (max-min fairness): maximize min_m z_m r_m / (w_m e_m). The throughput e_m = sum_t a_mt M_t / M
      is that of a job that divides its time among the types in proportion to their numbers of GPUs.
    - `finish_time` (finish-time fairness, as in Gavel's comparison with Themis): minimize
      max_m (age_m + s_m / r_m) / (isolated_m + s_m / i_m). The throughput i_m results from the shares
      M_t / (J z_m), divided by their sum if it exceeds 1.
    - `makespan`: minimize max_m s_m / r_m.
    - `fifo`: maximize sum_m (J - m) r_m / max_t a_mt, with m from 0 in the order of the jobs.
    - `max_sum`: maximize sum_m r_m.

    Under `finish_time` and `makespan`, every job must get some time.

    Floats are read as decimals: 0.1 is exactly 1/10. A value counts as optimal if its relative distance from a
    proven bound is at most a billionth.

    Source: Gavel (OSDI 2020), sections 4.1 and 4.2.

    Attributes
    ----------
    gpus
        Number of GPUs of each type, keyed by type.
    jobs
        The jobs, in order of arrival.
    criterion
        Criterion to optimize; see above.

    Examples
    --------
    >>> problem = Shares(
    ...     gpus={"v100": 1, "k80": 1},
    ...     jobs=[
    ...         TypedJob(name="a", throughputs={"v100": 4.0, "k80": 1.0}),
    ...         TypedJob(name="b", throughputs={"v100": 3.0, "k80": 1.0}),
    ...     ],
    ... )
    >>> halves = {"v100": 0.5, "k80": 0.5}
    >>> problem.objective(TimeShares(shares={"a": halves, "b": halves}))
    1
    >>> uneven = TimeShares(shares={"a": {"v100": 0.55, "k80": 0.45}, "b": {"v100": 0.45, "k80": 0.55}})
    >>> problem.violations(uneven), problem.objective(uneven)  # job b has less than with halves
    ([], Fraction(19, 20))
    """

    word: ClassVar[str] = "shares"
    solution_type: ClassVar[type[Frozen]] = TimeShares

    problem: Literal["shares"] = "shares"
    gpus: Annotated[Mapping[Name, Gpus], Field(min_length=1)]
    jobs: Annotated[Named[TypedJob], Field(min_length=1)]
    criterion: Criterion = "max_min"

    @model_validator(mode="after")
    def _rules_hold(self) -> "Shares":
        for index, job in enumerate(self.jobs):
            for kind in job.throughputs:
                if kind not in self.gpus:
                    raise RuleBroken(f"jobs[{index}].throughputs", kind, "must be a type of GPU of gpus")
            if not self.rates[job.name]:
                rule = "must be above 0 on a type that has as many GPUs as the job"
                raise RuleBroken(f"jobs[{index}].throughputs", dict(job.throughputs), rule)
        return self

    @property
    def sense(self) -> Sense:  # type: ignore[override]  # a constant in other decisions
        """Whether to maximize (for `max_min`, `fifo` and `max_sum`) or to minimize (for the other criteria)."""
        return Sense.MAXIMIZE if self.criterion == "max_min" or self.is_sum else Sense.MINIMIZE

    @property
    def is_sum(self) -> bool:
        """Whether the objective is the sum of the jobs' terms, rather than the worst term."""
        return self.criterion in {"fifo", "max_sum"}

    @property
    def unit(self) -> str:
        """Unit of the objective, which depends on the criterion."""
        return {
            "max_min": "times the proportional throughput",
            "finish_time": "times the isolated completion time",
            "makespan": "seconds",
            "fifo": "fastest throughputs, weighted by place",
            "max_sum": "steps per second",
        }[self.criterion]

    def resolution(self, value: Number) -> Number:
        """Return the difference up to which values are considered equal: a billionth of the given value."""
        return decimal(SHARE_VALUE) * abs(Fraction(value))

    # What the jobs are compared with

    @cached_property
    def rates(self) -> Mapping[str, Mapping[str, Exact]]:
        """Exact steps per second of each job on each type on which it can run, keyed by job name and type."""
        return {
            job.name: {
                kind: decimal(rate)
                for kind, rate in job.throughputs.items()
                if rate and job.gpus <= self.gpus[kind]
            }
            for job in self.jobs
        }

    @cached_property
    def proportional(self) -> Mapping[str, Exact]:
        """Throughput of each job, by name, if it divides its time among types in proportion to their GPUs."""
        gpus = sum(self.gpus.values())
        return {
            name: whole(Fraction(exact_dot((rate, self.gpus[kind]) for kind, rate in own.items())) / gpus)
            for name, own in self.rates.items()
        }

    @cached_property
    def isolated_shares(self) -> Mapping[str, Mapping[str, Exact]]:
        """Shares of each job, keyed by job name and type, if the jobs divide the GPUs of every type equally.

        If a job's shares of all types add up to more than 1, they are divided by their sum. Types on which the
        job cannot run count in this sum, but are left out of the result.
        """
        parts = {gpus: self._isolated_parts(gpus) for gpus in {job.gpus for job in self.jobs}}
        return {job.name: {kind: parts[job.gpus][kind] for kind in self.rates[job.name]} for job in self.jobs}

    def _isolated_parts(self, gpus: int) -> dict[str, Exact]:
        """Return the isolated shares, keyed by type, of a job with the given number of GPUs."""
        parts = {kind: Fraction(count, len(self.jobs) * gpus) for kind, count in self.gpus.items()}
        most = max(Fraction(1), sum(parts.values(), Fraction(0)))
        return {kind: whole(part / most) for kind, part in parts.items()}

    @cached_property
    def isolated_times(self) -> Mapping[str, Exact]:
        """Seconds from arrival to completion if a job always has its isolated shares, keyed by job name."""
        return {job.name: self._isolated_time(job) for job in self.jobs}

    def _isolated_time(self, job: TypedJob) -> Exact:
        shares = self.isolated_shares[job.name]
        rate = Fraction(exact_dot((rate, shares[kind]) for kind, rate in self.rates[job.name].items()))
        return whole(decimal(job.isolated) + decimal(job.steps) / rate)

    # The judge

    def throughput(self, job: TypedJob, solution: TimeShares) -> Exact:
        """Return the mean steps per second of a job under the solution."""
        own = solution.shares.get(job.name, {})
        rates = self.rates[job.name]
        return exact_dot((rates[kind], decimal(part)) for kind, part in own.items() if part and kind in rates)

    def levels(self, solution: TimeShares) -> list[Exact]:
        """Return one term per job. The objective is the worst of them or, if `is_sum` is true, their sum."""
        return [
            self.level(place, job, Fraction(self.throughput(job, solution)))
            for place, job in enumerate(self.jobs)
        ]

    def level(self, place: int, job: TypedJob, rate: Fraction) -> Exact:
        """Return a job's term in the objective, given the job's index and its throughput."""
        if self.criterion == "max_min":
            return whole(job.gpus * rate / (decimal(job.weight) * self.proportional[job.name]))
        if self.criterion == "fifo":
            return whole((len(self.jobs) - place) * rate / max(self.rates[job.name].values()))
        if self.criterion == "max_sum":
            return whole(rate)
        left = decimal(job.steps) / rate
        if self.criterion == "makespan":
            return whole(left)
        return whole((decimal(job.age) + left) / self.isolated_times[job.name])

    def objective(self, solution: TimeShares) -> Exact:
        """Return the worst of the jobs' terms, or their sum if `is_sum` is true."""
        levels = self.levels(solution)
        if self.is_sum:
            return exact_total(levels)
        return min(levels) if self.sense is Sense.MAXIMIZE else max(levels)

    def violations(self, solution: TimeShares) -> list[str]:
        """Return a message for each broken rule.

        Only jobs of the problem may have shares, and each only on types on which it can run. The shares of a
        job must add up to at most 1. On average, jobs must not use more GPUs of a type than there are. Under
        the criteria `finish_time` and `makespan`, each job must also run at some time.
        """
        jobs = {job.name: job for job in self.jobs}
        found: list[str] = []
        for name, own in solution.shares.items():
            if name in jobs:
                found += self._misplaced(jobs[name], own)
            else:
                found.append(f"shares: {name!r} is not a job of the instance")
        found += [f"shares: {line}" for line in self._overfull(solution)]
        if self.sense is Sense.MINIMIZE:
            idle = (job.name for job in self.jobs if not self._runs(job, solution))
            found += [f"shares: {name!r} never runs, and would never end" for name in idle]
        return found

    def _misplaced(self, job: TypedJob, own: Mapping[str, float]) -> Iterator[str]:
        rates = self.rates[job.name]
        for kind, share in own.items():
            if share and kind not in rates:
                yield f"shares: {job.name!r} does not run on {kind!r}"
        if sum(own.values()) < 1 - SHARE_SUM:  # which exact numbers need not confirm
            return
        total = exact_total(own.values())
        if total > 1:
            yield f"shares: {job.name!r} runs {float(total):.16g} of the time, must be at most 1"

    def _runs(self, job: TypedJob, solution: TimeShares) -> bool:
        """Check whether a job has a positive share of some type on which it can run."""
        rates = self.rates[job.name]
        return any(share and kind in rates for kind, share in solution.shares.get(job.name, {}).items())

    def _overfull(self, solution: TimeShares) -> Iterator[str]:
        for kind, used in self._used(solution).items():
            if used > self.gpus[kind]:
                yield f"{float(used):.16g} GPUs of {kind!r} are used, there are {self.gpus[kind]}"

    def _used(self, solution: TimeShares) -> dict[str, Exact]:
        """Return the mean number of GPUs in use, keyed by type."""
        own = [(job.gpus, solution.shares.get(job.name, {})) for job in self.jobs]
        return {
            kind: exact_total(gpus * decimal(shares.get(kind, 0)) for gpus, shares in own) for kind in self.gpus
        }

    # Around it

    def fitted(self, shares: Mapping[str, Mapping[str, Number]]) -> TimeShares:
        """Convert shares that satisfy the rules up to rounding errors into shares that satisfy them exactly.

        Negative shares, and shares of types on which a job cannot run, are left out. If the other shares of a
        job add up to more than 1, they are divided by their sum. If the jobs then use more GPUs of a type than
        there are, all shares of this type are scaled down. Every share is rounded down to fifteen significant
        digits.

        Examples
        --------
        >>> job = TypedJob(name="a", throughputs={"v100": 4.0})
        >>> Shares(gpus={"v100": 1, "k80": 1}, jobs=[job]).fitted({"a": {"v100": 1.0000001, "k80": 0.1}})
        TimeShares(shares={'a': {'v100': 1.0}})
        """
        known: dict[tuple[tuple[str, Number], ...], dict[str, Fraction]] = {}  # many jobs have the same shares
        rows = dict[str, dict[str, Fraction]]()
        for job in self.jobs:
            own = shares.get(job.name, {})
            given = {kind: own[kind] for kind in self.rates[job.name] if own.get(kind, 0) > 0}
            alike = tuple(given.items())
            if alike not in known:
                known[alike] = _within_time(given)
            rows[job.name] = known[alike]
        gpus = {job.name: job.gpus for job in self.jobs}
        scales: dict[str, Fraction] = {}
        for kind, count in self.gpus.items():
            used = exact_total(gpus[name] * row[kind] for name, row in rows.items() if kind in row)
            scales[kind] = min(Fraction(1), Fraction(count) / used) if used else Fraction(1)
        return TimeShares(
            shares={
                name: {kind: _stored(share, scales[kind]) for kind, share in row.items()}
                for name, row in rows.items()
            }
        )

    def headline(self) -> dict[str, int | float | str]:
        """Return the numbers of jobs, GPUs and GPU types, and the criterion."""
        gpus = sum(self.gpus.values())
        return {"jobs": len(self.jobs), "gpus": gpus, "types": len(self.gpus), "criterion": self.criterion}

    def measures(self, solution: TimeShares) -> dict[str, Number]:
        """Return the mean number of idle GPUs and the number of jobs that never run."""
        used = exact_total(self._used(solution).values())
        never = sum(not self._runs(job, solution) for job in self.jobs)
        return {"idle_gpus": sum(self.gpus.values()) - used, "jobs_without_time": never}


def _within_time(own: Mapping[str, Number]) -> dict[str, Fraction]:
    """Return the shares of a job, divided by their sum if it exceeds 1, and rounded down."""
    kept = {kind: Fraction(decimal(share)) for kind, share in own.items()}
    total = max(Fraction(1), Fraction(exact_total(kept.values())))
    return {
        kind: Fraction(floor_digits(share / total if total > 1 else share, _DIGITS))
        for kind, share in kept.items()
    }


def _stored(share: Fraction, scale: Fraction) -> float:
    return float(share if scale == 1 else floor_digits(share * scale, _DIGITS))
