"""Trainings: what completing adaptive jobs costs at given prices, with their epochs in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np

from gsopt.core.numbers.hull import concave_hull
from gsopt.core.numbers.tolerances import PRICED, SUM
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.epochs import EpochTimes
from gsopt.schedule.bounds.prices.demand import Demand, Way, ways_of

Array = np.ndarray[Any, Any]

#: Nodes of the cost to go of one group of jobs, and parts of its course, at most; and how many times more parts
#: the last, fine evaluation of a grid has.
_NODES, _MOST_PARTS, _FINER = 200_000, 48, 3


@dataclass(frozen=True, eq=False)
class TrainingEvaluation:
    """What trainings cost, and what they hold.

    Attributes
    ----------
    values, slopes
        As those of `gsopt.schedule.bounds.prices.evaluation.PriceEvaluation`, of the jobs that are trainings.
    usage
        GPU-seconds that they hold, by kind of job and cell.
    error
        What rounding may have added to the sum of the values.
    """

    values: Array
    slopes: Array
    usage: Array
    error: float


@dataclass(frozen=True, eq=False)
class Parts:
    """The course of a training, cut into parts, and the ways to run in each.

    Attributes
    ----------
    first
        Where the ways of each part begin; one entry more than there are parts.
    kinds, gpus, rates
        Rows of prices, numbers of GPUs, and the parts per unit of time that are done on them.
    """

    first: Array
    kinds: Array
    gpus: Array
    rates: Array

    def __len__(self) -> int:
        return len(self.first) - 1

    @classmethod
    def of(cls, seconds: Array, weights: Array, kinds: Array, gpus: Array, number: int) -> "Parts":
        """Cut a course into so many parts that are equally long where it is fastest.

        A part of several epochs is one of weighted work, as in `EpochTimes.speeds`. What is left out between
        two parts by rounding only makes the job faster.
        """
        fastest = seconds.min(axis=1)
        ends = np.cumsum(fastest)
        cuts = np.linspace(0.0, ends[-1], number + 1)
        first, ways = [0], list[tuple[int, float, float]]()
        for low, high in pairwise(cuts):
            share = (np.minimum(ends, high) - np.maximum(ends - fastest, low)) / fastest
            inside = share > SUM
            work = weights[inside] @ np.minimum(share[inside], 1.0)
            speeds = (weights[inside, None] / seconds[inside]).max(axis=0) / work
            for kind in np.unique(kinds).tolist():
                own = kinds == kind
                held = speed = 0.0
                for step in concave_hull(zip(gpus[own].tolist(), speeds[own].tolist(), strict=True)):
                    held, speed = held + step.gpus, speed + step.speed
                    ways.append((kind, held, speed))
            first.append(len(ways))
        kind_of, held_by, rates = zip(*ways, strict=True)
        whole = np.array(first, dtype=np.int64), np.array(kind_of, dtype=np.int64)
        return cls(*whole, np.array(held_by), np.array(rates))


@dataclass(frozen=True, eq=False)
class _Group:
    """Jobs that differ by their release dates only, with the least seconds of their epochs in units."""

    jobs: Array
    weight: float
    rows: Array  # of prices that the jobs may pay
    kinds: Array  # places among these rows, by way to run
    gpus: Array  # by way to run, as they are paid
    seconds: Array  # by epoch and way to run
    weights: Array  # of the epochs

    @classmethod
    def of(
        cls,
        times: EpochTimes,
        rows: Sequence[int],
        weight: float,
        ways: Sequence[Way],
        unit: float,
        jobs: Array,
    ) -> "_Group":
        """Count times in units, and the ways to run of the jobs, which pay by rows of prices."""
        types, counts, gpus, slower = zip(*ways, strict=True)
        known = zip(types if times.types else [""] * len(ways), counts, strict=True)
        seconds = times.seconds[:, [times.columns[way] for way in known]] / np.array(slower) / unit
        own, kinds = np.unique(rows, return_inverse=True)
        return cls(jobs, weight, own, kinds, np.array(gpus), seconds, times.weights)

    def parts(self, horizon: float, finer: int) -> Parts:
        """Cut the course, the finer the longer it is."""
        fastest = float(self.seconds.min(axis=1).sum())
        number = min(_MOST_PARTS, max(1, int(sqrt(_NODES * fastest / horizon))))
        return Parts.of(self.seconds, self.weights, self.kinds, self.gpus, number * finer)


class Trainings:
    """The adaptive jobs of a demand, whose cost keeps the order of their epochs.

    For fixed prices the least that a job costs is a problem of optimal control: it is anywhere in its course at
    any time, and holds k GPUs for their price and gets on at the rate r_k of its part of the course, or slower.
    Let phi be a function of time and course, linear on triangles, that is 0 at the end of the course. If

        weight + d phi / d time + price k + r_k d phi / d course >= 0

    in every triangle for every k, 0 included, then phi plus what a job has cost so far never falls along any
    schedule, and is what the schedule costs when the job is complete. So phi at the release date and the
    beginning of the course is a lower bound: a subsolution of the Hamilton-Jacobi-Bellman equation; see M. G.
    Crandall and P.-L. Lions, "Two approximations of solutions of Hamilton-Jacobi equations", 1984.

    Nodes are at the edges of parts of the course and of steps of time, which end at all edges of prices. Each
    node is in two triangles that reach to later nodes or further ones, which are known: one from it to the next
    step, one to the next part. It gets the largest value that both allow. The condition for k = 0 makes phi
    fall with time by no more than the weight, which the second triangle needs too. Beyond the last price phi is
    the fastest time to the end. The slopes by the prices are exact: those of the formulas by which nodes follow
    from each other.

    A job that tells types of GPU apart has ways to run on each, at the price of the type.

    Jobs of one course, kind and weight share one phi.
    """

    def __init__(
        self, demand: Demand, scenario: Scenario, times: Mapping[str, EpochTimes], types: Sequence[str] = ()
    ) -> None:
        self._demand = demand
        groups: dict[Any, list[int]] = {}
        jobs = scenario.workload.jobs
        ways = ways_of(scenario)
        for number, job in enumerate(jobs):
            if job.name in times:
                key = times[job.name], int(demand.kind[number]), float(demand.weight[number]), ways[number]
                groups.setdefault(key, []).append(number)
        unit = float(demand.unit)
        row_of = {name: row for row, name in enumerate(types, start=1)}
        self._groups = [
            _Group.of(
                own,
                [row_of.get(way[0], kind) if own.types else kind for way in can],
                weight,
                can,
                unit,
                np.array(numbers),
            )
            for (own, kind, weight, can), numbers in groups.items()
        ]
        self.jobs = np.array(sorted(number for own in groups.values() for number in own), dtype=np.int64)
        self._parts: dict[tuple[int, float, int], Parts] = {}

    def __len__(self) -> int:
        return len(self.jobs)

    @property
    def tells_types(self) -> bool:
        """Whether some jobs choose between types of GPU that have prices of their own."""
        return any(len(group.rows) > 1 for group in self._groups)

    def areas(self, gpus: Array) -> Array:
        """Return the GPUs times units of time of each job of the demand, given those of every row of prices.

        A job that chooses between types counts as running on all GPUs of all its types at once.
        """
        found = self._demand.area.copy()
        for group in self._groups:
            if len(group.rows) > 1:
                held = group.gpus * group.seconds.sum(axis=0)
                least = np.array([held[group.kinds == kind].min() for kind in range(len(group.rows))])
                found[group.jobs] = gpus[0] / (gpus[group.rows] / least).sum()
        return found

    def evaluate(self, edges: Array, prices: Array, *, fine: bool = False) -> TrainingEvaluation:
        """Compute what the trainings cost; edges and prices are those of `evaluate`, without the last cell."""
        values, slopes = np.zeros(len(self._demand)), np.zeros(len(self._demand))
        usage, error = np.zeros((len(prices), len(edges))), 0.0
        for number, group in enumerate(self._groups):
            finer = _FINER if fine else 1
            key = number, float(edges[-1]), finer
            if key not in self._parts:
                self._parts[key] = group.parts(float(edges[-1]), finer)
            most = finer**2 * _NODES // len(self._parts[key])
            given = self._parts[key], most, edges, prices[group.rows]
            error += self._evaluate(group, *given, values, slopes, usage)
        return TrainingEvaluation(values[self.jobs], slopes[self.jobs], usage, error)

    def _evaluate(
        self,
        group: _Group,
        parts: Parts,
        most_steps: int,
        edges: Array,
        prices: Array,
        values: Array,
        slopes: Array,
        usage: Array,
    ) -> float:
        """Evaluate a group into the last three arrays, and return what rounding may have added."""
        from gsopt.schedule.bounds.prices.cost_to_go import cost_to_go, spread_usage

        times = np.empty(most_steps + len(edges))
        cell = np.zeros(len(times), dtype=np.int64)
        cost = np.empty((len(times), len(parts) + 1))
        ways = group.weight, parts.first, parts.kinds, parts.gpus, parts.rates
        steps, rounded = cost_to_go(edges, prices, *ways, most_steps, times, cell, cost)
        release = self._demand.release[group.jobs]
        # Nodes are by falling time: each release date is between one and the one before, or after all.
        after = np.clip(steps - np.searchsorted(times[steps::-1], release, side="right"), 0, max(steps - 1, 0))
        before = np.minimum(after + 1, steps)
        lengths = times[after] - times[before]
        part = np.divide(times[after] - release, lengths, out=np.zeros_like(release), where=lengths > 0)
        part = np.clip(part, 0.0, 1.0)
        ends = part[:, None] * cost[before, :2] + (1 - part[:, None]) * cost[after, :2]
        values[group.jobs] = ends[:, 0]
        slopes[group.jobs] = (ends[:, 0] - ends[:, 1]) * len(parts) / self._demand.work[group.jobs]
        held = usage[group.rows]
        share = np.zeros((steps + 1, len(parts) + 1))
        np.add.at(share[:, 0], before, part)
        np.add.at(share[:, 0], after, 1 - part)
        spread_usage(steps, prices, *ways, times, cell, cost, share, held)
        usage[group.rows] = held
        terms = rounded + len(group.weights)
        return PRICED * terms * float(np.abs(cost[: steps + 1]).max()) * len(group.jobs)
