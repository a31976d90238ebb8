"""Elastic: the cheapest plans for jobs that may run on several numbers of GPUs."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np

from gsopt.core.numbers.tolerances import SUM
from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.tables import Span, Tables

#: Largest number of steps in the search for the slope at which a job does exactly its work. Every other step
#: halves the bracket.
_STEPS = 80


@dataclass(frozen=True, eq=False)
class Elastic:
    """Jobs whose hulls may have several segments; shorter hulls are padded with empty segments.

    A job's slope is the value that is attached to a unit of its work. Given a slope, and the cell in which the
    job completes, the job runs on a segment wherever running costs less than the value of the work done. In the
    cell of completion, running also costs the delay of the completion. The job's gain is the total value of the
    work that it does in this way, minus what this costs. For every slope, the cost of waiting for the cell of
    completion, plus the value of the job's total work, minus the gain, is a lower bound on the job's cost. For
    the right slope, it equals the cost.
    """

    release: Array
    work: Array
    weight: Array
    start: Array
    gpus: Array
    speed: Array

    @classmethod
    def of(cls, demand: Demand, jobs: Array, start: Array) -> Self:
        """Select the given jobs, which are released in the cells `start`."""
        counts = np.diff(demand.first)[jobs]
        places = demand.first[jobs, None] + np.arange(counts.max())
        there = np.arange(counts.max()) < counts[:, None]
        places = np.where(there, places, 0)
        return cls(
            release=demand.release[jobs],
            work=demand.work[jobs],
            weight=demand.weight[jobs],
            start=start,
            gpus=np.where(there, demand.gpus[places], 0.0),
            speed=np.where(there, demand.speed[places], 0.0),
        )

    @cached_property
    def efficiency(self) -> Array:
        """Speed per GPU of each segment; 0 for empty segments."""
        found: Array = np.divide(self.speed, self.gpus, out=np.zeros_like(self.speed), where=self.gpus > 0)
        return found

    def taken(self, jobs: Array) -> Self:
        """Return only the jobs with the given indices."""
        return type(self)(**{field.name: getattr(self, field.name)[jobs] for field in fields(self)})

    def cost(self, tables: Tables, jobs: Array, end: Array) -> tuple[Array, Array]:
        """Return the costs of jobs that complete in the given cells, or infinity for jobs that cannot.

        Returns
        -------
        tuple
            The costs, and for each job two slopes. Between them lies the slope at which the job does exactly
            its work.
        """
        trade = _Trade(self.taken(jobs), tables, end)
        low, high = np.zeros(len(jobs)), trade.highest
        below, above = trade.at(low), trade.at(high)
        possible = above.done >= trade.jobs.work
        for step in range(_STEPS):
            middle, most = _meeting(trade.jobs.work, low, high, below, above)
            value = np.maximum(below.value, above.value)
            if not np.any(possible & (most - value > SUM * most)):
                break
            if step % 2:
                middle = (low + high) / 2
            found = trade.at(middle)
            short = found.done < trade.jobs.work
            low, high = np.where(short, middle, low), np.where(short, high, middle)
            below, above = below.replaced(short, found), above.replaced(~short, found)
        value = np.maximum(below.value, above.value)
        return np.where(possible, value, np.inf), np.stack([low, high], axis=-1)

    def finish(self, tables: Tables, end: Array, found: Array) -> tuple[Array, Array]:
        """Return the total usage of each cell and the slope of each job if jobs complete in the given cells."""
        trade = _Trade(self, tables, end)
        below, above = trade.at(found[:, 0]), trade.at(found[:, 1])
        missing, range_ = self.work - below.done, above.done - below.done
        part = np.clip(np.divide(missing, range_, out=np.ones_like(missing), where=range_ > 0), 0.0, 1.0)
        usage = trade.usage(found[:, 0], 1.0 - part) + trade.usage(found[:, 1], part)
        return usage, np.where(below.value < above.value, found[:, 1], found[:, 0])


def _meeting(work: Array, low: Array, high: Array, below: "_Gain", above: "_Gain") -> tuple[Array, Array]:
    """Return the slope at which the tangents at two slopes meet, and an upper bound: the value there."""
    rise, fall = work - below.done, work - above.done
    apart = above.value - below.value + rise * low - fall * high
    middle = np.divide(apart, rise - fall, out=(low + high) / 2, where=rise > fall)
    middle = np.clip(middle, low, high)
    return middle, np.maximum(below.value + rise * (middle - low), 0.0)


@dataclass(frozen=True, eq=False)
class _Gain:
    """The work that jobs do at given slopes, and lower bounds on their costs."""

    done: Array
    value: Array

    def replaced(self, where: Array, other: "_Gain") -> "_Gain":
        return _Gain(np.where(where, other.done, self.done), np.where(where, other.value, self.value))


class _Trade:
    """Jobs that complete in given cells, and the work that they do by then at any slope."""

    def __init__(self, jobs: Elastic, tables: Tables, end: Array) -> None:
        self.jobs, self.tables, self.end = jobs, tables, end
        self.span = Span.of(tables, jobs.start, end, jobs.release)
        self.begin = np.maximum(tables.edges[end], jobs.release)
        self.length = np.where(end < tables.cells, tables.edges[end + 1] - self.begin, self._endless)
        self.price = tables.prices[end]
        self.corner_gpus, self.corner_speed = jobs.gpus.cumsum(axis=1), jobs.speed.cumsum(axis=1)

    @property
    def _endless(self) -> Array:
        """Time within which each job certainly completes, used for the last cell, which has no end."""
        found: Array = 2 * self.jobs.work / self.jobs.speed[:, 0]
        return found

    @property
    def highest(self) -> Array:
        """Slopes at which jobs run on all segments in all cells."""
        efficiency = self.jobs.efficiency
        least = np.where(efficiency > 0, efficiency, np.inf).min(axis=1)
        dearest = float(self.tables.prices.max())
        found: Array = 2 * (dearest / least + self.jobs.weight / self.jobs.speed[:, 0])
        return found

    def at(self, slope: Array) -> _Gain:
        """Return the work done at the given slopes, and the lower bounds on costs."""
        jobs, cheapest = self.jobs, self._cheapest(slope)
        seconds = self.span.seconds(cheapest)
        done = (jobs.speed * seconds).sum(axis=1)
        paid = (jobs.gpus * self.span.costs(cheapest)).sum(axis=1)
        corner, profit = self._own(slope)
        own = np.where(profit > 0, self.length, 0.0)
        speed = np.take_along_axis(self.corner_speed, corner, axis=1)[:, 0]
        gain = slope * done - paid + own * profit
        return _Gain(done + own * speed, jobs.weight * (self.begin - jobs.release) + slope * jobs.work - gain)

    def _cheapest(self, slope: Array) -> Array:
        found: Array = np.searchsorted(self.tables.ascending, slope[:, None] * self.jobs.efficiency)
        return found

    def _own(self, slope: Array) -> tuple[Array, Array]:
        """Return the last segment on which jobs run in their last cell, and their gain per unit of time."""
        gains = slope[:, None] * self.corner_speed - self.price[:, None] * self.corner_gpus
        corner = gains.argmax(axis=1)[:, None]
        return corner, np.take_along_axis(gains, corner, axis=1)[:, 0] - self.jobs.weight

    def usage(self, slope: Array, part: Array) -> Array:
        """Return the total usage by cell at the given slopes, with each job weighted by its entry in `part`."""
        cheapest = self._cheapest(slope)
        columns = zip(cheapest.T, self.jobs.gpus.T, strict=True)
        found = sum((self.span.usage(*column) for column in ((q, k * part) for q, k in columns)), np.zeros(1))
        corner, profit = self._own(slope)
        gpus = np.take_along_axis(self.corner_gpus, corner, axis=1)[:, 0]
        own = np.where(profit > 0, self.length * gpus * part, 0.0)
        total: Array = found + np.bincount(self.end, weights=own, minlength=self.tables.cells + 1)
        return total
