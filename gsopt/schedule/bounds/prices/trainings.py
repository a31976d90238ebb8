"""Trainings: lower bounds on the cost of completing adaptive jobs, epoch by epoch, at given prices."""

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

#: Largest number of nodes in the cost to go of one group of jobs; largest number of parts of the group's
#: course; and the factor by which the last, fine evaluation on a grid has more parts.
_NODES, _MOST_PARTS, _FINER = 200_000, 48, 3


@dataclass(frozen=True, eq=False)
class TrainingEvaluation:
    """Lower bounds on the costs of completing adaptive jobs, and the GPU time that this uses.

    Attributes
    ----------
    values, slopes
        As in `gsopt.schedule.bounds.prices.evaluation.PriceEvaluation`, for the adaptive jobs. The values are
        lower bounds on the minimum costs.
    usage
        GPU-seconds that the adaptive jobs use, by row of prices and cell.
    error
        Bound on the rounding error in the sum of the values.
    """

    values: Array
    slopes: Array
    usage: Array
    error: float


@dataclass(frozen=True, eq=False)
class Parts:
    """The course of a training run, cut into parts, and the ways to run in each part.

    Attributes
    ----------
    first
        The index of each part's first way to run, with one additional entry at the end.
    kinds, gpus, rates
        For each way to run: its row of prices, its number of GPUs, and the number of parts that it completes
        per unit of time.
    """

    first: Array
    kinds: Array
    gpus: Array
    rates: Array

    def __len__(self) -> int:
        return len(self.first) - 1

    @classmethod
    def of(cls, seconds: Array, weights: Array, kinds: Array, gpus: Array, number: int) -> "Parts":
        """Cut a course into `number` parts that take equally long at the job's highest speeds.

        A part that covers several epochs counts weighted work, as in `EpochTimes.speeds`. Because of
        rounding, work between two parts may be left out, which only makes the job faster.
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
    """Jobs that differ only in their release dates, and the minimum durations of their epochs in units."""

    jobs: Array
    weight: float
    rows: Array  # of prices that the jobs may pay
    kinds: Array  # index among these rows, by way to run
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
        """Create a group from epoch times, ways to run and their rows of prices; convert times to units."""
        types, counts, gpus, slower = zip(*ways, strict=True)
        known = zip(types if times.types else [""] * len(ways), counts, strict=True)
        seconds = times.seconds[:, [times.columns[way] for way in known]] / np.array(slower) / unit
        own, kinds = np.unique(rows, return_inverse=True)
        return cls(jobs, weight, own, kinds, np.array(gpus), seconds, times.weights)

    def parts(self, horizon: float, finer: int) -> Parts:
        """Cut the course into parts. A longer course is cut into more parts."""
        fastest = float(self.seconds.min(axis=1).sum())
        number = min(_MOST_PARTS, max(1, int(sqrt(_NODES * fastest / horizon))))
        return Parts.of(self.seconds, self.weights, self.kinds, self.gpus, number * finer)


class Trainings:
    """The adaptive jobs of a demand, whose costs take the order of their epochs (their course) into account.

    For fixed prices, minimizing the cost of a job is an optimal control problem. Its state consists of the
    time and the position in the course. A job that holds k GPUs pays their price, and advances at a rate of
    at most r_k in the current part of the course. Let phi be a function of time and position that is linear
    on triangles, and 0 at the end of the course. If

        weight + d phi / d time + price k + r_k d phi / d course >= 0

    in every triangle for every k, including 0, then the sum of phi and the job's cost so far never decreases
    along any schedule, and it equals the cost of the schedule when the job is complete. So the value of phi
    at the release date and the beginning of the course is a lower bound. Such a phi is a subsolution of the
    Hamilton-Jacobi-Bellman equation; see M. G. Crandall and P.-L. Lions, "Two approximations of solutions of
    Hamilton-Jacobi equations", 1984.

    Nodes are at the edges of the parts of the course and of the time steps, which include all edges of price
    cells. Each node belongs to two triangles whose other nodes are later or further along the course, and
    hence already known: one triangle leads to the next step and one to the next part. The node gets the
    largest value that both triangles allow. After the last price, phi is the cost of the fastest way to the
    end. The derivatives with respect to the prices are exact, because they are the derivatives of the formulas
    that compute the nodes from each other.

    A job that distinguishes GPU types has ways to run on each type, at the price of that type.

    Jobs with the same course, kind and weight share the same phi.
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
        """Whether some jobs choose between GPU types that have prices of their own."""
        return any(len(group.rows) > 1 for group in self._groups)

    def areas(self, gpus: Array) -> Array:
        """Return the area of each job (GPUs times units of time), given the GPUs of every row of prices.

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
        """Compute lower bounds on the minimum costs of the adaptive jobs at the given prices.

        The edges and prices are as for `gsopt.schedule.bounds.prices.evaluation.evaluate`. With `fine`, courses
        are cut into more parts, which yields better bounds but takes longer.
        """
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
        """Evaluate a group, fill in the last three arrays, and return a bound on the rounding error."""
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
