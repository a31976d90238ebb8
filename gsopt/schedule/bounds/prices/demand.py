"""Demand: what the jobs of a scenario need, as arrays, on a clock that begins at the first release date."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter, ulp
from typing import Any

import numpy as np

from gsopt.core.numbers.grid import Exact
from gsopt.core.numbers.hull import HullSegment, concave_hull
from gsopt.core.numbers.tolerances import ULPS
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.capability import Capabilities
from gsopt.schedule.bounds.places import places
from gsopt.schedule.bounds.work import arrivals_of, options

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Demand:
    """The jobs as arrays, one entry for each.

    A job with phases needs the work of each at its least slowdown. What it may hold is the concave hull of all
    its modes, on numbers of GPUs that the cluster has for it. GPUs of slower types are counted by what they are
    worth (`gsopt.schedule.bounds.capability`).

    Attributes
    ----------
    release, work, weight
        Seconds, seconds at speed 1, and what a second of its completion time counts.
    slip
        Seconds by which rounding has put the release date earlier; 0 where it is whole seconds after the first.
    kind
        0, or the number of the type of GPUs to which all modes of the job are tied, from 1 on.
    first
        Where the job's segments begin in `gpus` and `speed`; one entry more than there are jobs.
    gpus, speed
        The segments of all hulls; of GPUs that may be shared, the places (`gsopt.schedule.bounds.places`).
    """

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
        """Whether every job has one way to run."""
        return bool(len(self.gpus) == len(self))

    @cached_property
    def most_steps(self) -> int:
        """Most segments of a hull."""
        return int(np.diff(self.first).max())

    @cached_property
    def area(self) -> Array:
        """Least GPU-seconds of every job."""
        lead = self.first[:-1]
        found: Array = self.work * self.gpus[lead] / self.speed[lead]
        return found

    @cached_property
    def height(self) -> Array:
        """Least seconds of every job."""
        found: Array = self.work / np.add.reduceat(self.speed, self.first[:-1])
        return found

    @cached_property
    def gpus_in_all(self) -> Array:
        """Number of GPUs on which every job is fastest."""
        found: Array = np.add.reduceat(self.gpus, self.first[:-1])
        return found

    @classmethod
    def of(cls, scenario: Scenario, weights: Sequence[float] | None = None) -> "Demand":
        """Read the jobs of a scenario, all of weight 1 unless weights are given by number."""
        jobs = scenario.workload.jobs
        arrivals, hulls = arrivals_of(scenario.workload), list(_hulls(scenario))
        kinds = {name: number for number, name in enumerate(types_of(scenario), start=1)}
        steps = [step for hull in hulls for step in hull]
        return cls(
            release=np.array(list(map(_floor, arrivals)), dtype=float),
            work=np.array([_work(job) for job in jobs], dtype=float),
            weight=np.ones(len(jobs)) if weights is None else np.array(weights, dtype=float),
            slip=np.array([float(arrival - Fraction(_floor(arrival))) for arrival in arrivals], dtype=float),
            kind=np.array([kinds.get(_type_of(job), 0) for job in jobs], dtype=np.int64),
            first=np.cumsum([0, *map(len, hulls)], dtype=np.int64),
            gpus=np.array([step.gpus for step in steps]) * np.repeat(places(scenario), list(map(len, hulls))),
            speed=np.array([step.speed for step in steps], dtype=float),
        )


def types_of(scenario: Scenario) -> list[str]:
    """List the types of GPUs to which jobs are tied in all modes, where the cluster has others too."""
    tied = {_type_of(job) for job in scenario.workload.jobs} - {""}
    return sorted(name for name in tied if scenario.cluster.room(name) < scenario.cluster.gpus)


def _type_of(job: Job) -> str:
    """Return the type of GPUs to which a job is tied, whatever its mode; empty where there is none."""
    if not job.modes:
        return job.gpu_type
    types = {job.gpu_type_in(mode) for mode in job.speeds}
    return types.pop() if len(types) == 1 else ""


def _work(job: Job) -> float:
    """Return the least work of a job, in seconds at speed 1."""
    if not job.phases:
        return job.duration
    names = ["", *(mode.name for mode in job.modes)]
    ends = [phase.until for phase in job.phases]
    parts = zip(job.phases, [0.0, *ends], ends, strict=False)
    return job.duration * sum(
        (end - begin) * min(phase.slowdown_in(name) for name in names) for phase, begin, end in parts
    )


def _floor(time: Exact) -> float:
    """Return the last double that is not after a time."""
    nearest = float(time)
    return nearest if Fraction(nearest) <= time else nextafter(nearest, -inf)


def _hulls(scenario: Scenario) -> Iterator[list[HullSegment[float]]]:
    most = Capabilities(scenario)
    for job in scenario.workload.jobs:
        entries = []
        for mode, count, speed in options(job):
            worth = most.of(count, job.gpu_type_in(mode), job.memory_in(mode) or 0)
            if worth is not None:
                entries.append((worth, speed if worth == count else speed * (worth / count)))
        yield _joined(concave_hull(entries))


def _joined(hull: Iterable[HullSegment[float]]) -> list[HullSegment[float]]:
    """Join steps of one efficiency: a job of linear speed has one step, however many its menu has.

    By what the corner between two steps is above their line, no more than its rounding, jobs may be faster; it
    is far less than what the bound subtracts for rounding.
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
