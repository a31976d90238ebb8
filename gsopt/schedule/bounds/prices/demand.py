"""Demand: the jobs of a scenario as arrays, in a suitable unit of time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter, ulp
from typing import Any

import numpy as np

from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.numbers.grid import step as common_step
from gsopt.core.numbers.hull import HullSegment, concave_hull
from gsopt.core.numbers.tolerances import ULPS
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.capability import Capabilities
from gsopt.schedule.bounds.epochs import EpochTimes
from gsopt.schedule.bounds.places import places
from gsopt.schedule.bounds.work import arrivals_of, options

Array = np.ndarray[Any, Any]

#: A way to run: the GPU type; the number of GPUs; what the job holds, which is the GPUs' total capability
#: times the number of places that it takes up; and the GPUs' speed relative to those on which menus were
#: measured.
Way = tuple[str, int, float, float]

#: Number up to which floats represent every integer exactly.
_LARGEST = 2**53


@dataclass(frozen=True, eq=False)
class Demand:
    """The jobs of a scenario as arrays.

    Times are counted from the first release date, in a unit that depends on the data. Multiplying all times by
    1,000, as from seconds to milliseconds, leaves the arrays unchanged.

    The work of each phase is counted at the phase's smallest slowdown. The options of a job are the concave
    hull of all its modes, on the numbers of GPUs that the cluster has for the job. GPUs of slower types are
    weighted by their capability (`gsopt.schedule.bounds.capability`).

    Attributes
    ----------
    unit
        The exact length of the unit of time, in seconds.
    release, work, weight
        Release dates in units, work in units at speed 1, and costs of a unit of completion time; one per job.
    slip
        Amounts by which the release dates were rounded down, in units; 0 for dates that are whole units.
    kind
        For each job, the number (from 1) of the GPU type that all its modes require; 0 if there is no such
        type, or if the type has no prices of its own.
    first
        Index of each job's first segment in `gpus` and `speed`, with one additional entry at the end.
    gpus, speed
        GPUs and speeds of the segments of all hulls. If GPUs may be shared, places
        (`gsopt.schedule.bounds.places`) are counted instead of GPUs.
    """

    unit: Exact
    release: Array
    work: Array
    weight: Array
    slip: Array
    kind: Array
    first: Array
    gpus: Array
    speed: Array

    def __len__(self) -> int:
        return len(self.release)

    @cached_property
    def is_rigid(self) -> bool:
        """Whether the hull of every job is a single segment, as for a job with only one way to run."""
        return bool(len(self.gpus) == len(self))

    @cached_property
    def most_steps(self) -> int:
        """Largest number of segments in a hull."""
        return int(np.diff(self.first).max())

    @cached_property
    def area(self) -> Array:
        """Minimum area of each job, in GPUs times units of time."""
        lead = self.first[:-1]
        found: Array = self.work * self.gpus[lead] / self.speed[lead]
        return found

    @cached_property
    def height(self) -> Array:
        """Minimum run time of each job, in units."""
        found: Array = self.work / np.add.reduceat(self.speed, self.first[:-1])
        return found

    @cached_property
    def gpus_in_all(self) -> Array:
        """Number of GPUs on which each job reaches its highest speed, counted as in `gpus`."""
        found: Array = np.add.reduceat(self.gpus, self.first[:-1])
        return found

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        weights: Sequence[float] | None = None,
        types: Sequence[str] | None = None,
    ) -> "Demand":
        """Create the arrays for a scenario's jobs.

        Parameters
        ----------
        scenario
            The scenario, with its jobs and GPUs.
        weights
            Weights of the jobs, in the order of the jobs; 1 each by default.
        types
            The GPU types that have prices of their own; None for the types that some jobs require.
        """
        jobs = scenario.workload.jobs
        arrivals, works, hulls = arrivals_of(scenario.workload), list(map(_work, jobs)), list(_hulls(scenario))
        unit = _unit([*arrivals, *works])
        release, slip = zip(*(_counted(arrival, unit) for arrival in arrivals), strict=True)
        own = types_of(scenario) if types is None else types
        kinds = {name: number for number, name in enumerate(own, start=1)}
        steps = [step for hull in hulls for step in hull]
        return cls(
            unit=unit,
            release=np.array(release),
            work=np.array([_counted(work, unit)[0] for work in works]),
            weight=np.ones(len(jobs)) if weights is None else np.array(weights, dtype=float),
            slip=np.array(slip),
            kind=np.array([kinds.get(_type_of(job), 0) for job in jobs], dtype=np.int64),
            first=np.cumsum([0, *map(len, hulls)], dtype=np.int64),
            gpus=np.array([step.gpus for step in steps]) * np.repeat(places(scenario), list(map(len, hulls))),
            speed=np.array([step.speed for step in steps], dtype=float),
        )

    def only(self, jobs: Array) -> "Demand":
        """Return the demand of the jobs with the given indices."""
        steps = [np.arange(self.first[job], self.first[job + 1]) for job in jobs]
        chosen = np.concatenate([np.zeros(0, dtype=np.int64), *steps])
        return replace(
            self,
            **{name: getattr(self, name)[jobs] for name in ("release", "work", "weight", "slip", "kind")},
            first=np.cumsum([0, *map(len, steps)], dtype=np.int64),
            gpus=self.gpus[chosen],
            speed=self.speed[chosen],
        )


def types_of(scenario: Scenario, times: Iterable[EpochTimes] = ()) -> list[str]:
    """Return the GPU types that need prices of their own, in alphabetical order.

    These are the types that some jobs require in all modes, and those between which adaptive jobs choose, as
    listed in `times`. A type needs no prices of its own if the cluster has no other type.
    """
    tied = {_type_of(job) for job in scenario.workload.jobs} - {""}
    tied.update(gpu_type for each in times for gpu_type in each.types)
    return sorted(name for name in tied if scenario.cluster.room(name) < scenario.cluster.gpus)


def _type_of(job: Job) -> str:
    """Return the GPU type that a job requires in all modes, or an empty string if there is none."""
    if not job.modes:
        return job.gpu_type
    types = {job.gpu_type_in(mode) for mode in job.speeds}
    return types.pop() if len(types) == 1 else ""


def _work(job: Job) -> Exact:
    """Return the minimum work of a job, in seconds at speed 1."""
    if not job.phases:
        return decimal(job.duration)
    names = ["", *(mode.name for mode in job.modes)]
    ends = [decimal(phase.until) for phase in job.phases]
    parts = zip(job.phases, [0, *ends], ends, strict=False)
    return decimal(job.duration) * sum(
        (end - begin) * min(decimal(phase.slowdown_in(name)) for name in names) for phase, begin, end in parts
    )


def _unit(times: Sequence[Exact]) -> Exact:
    """Return the largest unit that divides all times, or a larger unit if floats cannot count so finely."""
    return max(common_step(times) or 1, Fraction(max(times)) / _LARGEST)


def _counted(time: Exact, unit: Exact) -> tuple[float, float]:
    """Return the largest float that does not exceed a time in units, and the difference between the two."""
    above, below = time.numerator * unit.denominator, time.denominator * unit.numerator
    units = above / below
    if _rest(above, below, units) < 0:
        units = nextafter(units, -inf)
    return units, _rest(above, below, units)


def _rest(above: int, below: int, units: float) -> float:
    """Return the difference between the fraction ``above / below`` and a float.

    Integer arithmetic is faster than fractions here.
    """
    numerator, denominator = units.as_integer_ratio()
    return (above * denominator - numerator * below) / (below * denominator)


def _worths(scenario: Scenario) -> Iterator[list[tuple[str, int, float, float]]]:
    """Yield the options of each job: GPU type, number of GPUs, their capability, and the job's speed."""
    most = Capabilities(scenario)
    for job in scenario.workload.jobs:
        entries = []
        for mode, count, speed in options(job):
            gpu_type = job.gpu_type_in(mode)
            worth = most.of(count, gpu_type, job.memory_in(mode) or 0)
            if worth is not None:
                entries.append((gpu_type, count, worth, speed if worth == count else speed * (worth / count)))
        yield entries


def ways_of(scenario: Scenario) -> list[tuple[Way, ...]]:
    """Return the ways in which each job can run, each as explained at `Way`."""
    found = zip(_worths(scenario), places(scenario), strict=True)
    return [
        tuple(sorted({(kind, count, worth * place, worth / count) for kind, count, worth, _ in entries}))
        for entries, place in found
    ]


def _hulls(scenario: Scenario) -> Iterator[list[HullSegment[float]]]:
    for entries in _worths(scenario):
        yield _joined(concave_hull([(worth, speed) for _, _, worth, speed in entries]))


def _joined(hull: Iterable[HullSegment[float]]) -> list[HullSegment[float]]:
    """Join segments of equal efficiency, so that a job with linear speed-up has one segment for any menu.

    The corner between two joined segments may be above their line by its rounding error, which is far smaller
    than the amount that the bound subtracts for rounding.
    """
    found: list[HullSegment[float]] = []
    corner = 0.0
    for step in hull:
        last = found[-1] if found else HullSegment(0.0, 0.0)
        both = HullSegment(last.gpus + step.gpus, last.speed + step.speed)
        if found and last.speed - both.speed * (last.gpus / both.gpus) <= ULPS * ulp(corner):
            found[-1] = both
        else:
            found.append(step)
        corner += step.speed
    return found
