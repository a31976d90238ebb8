"""Rigid: the cheapest plans for jobs whose hulls are single segments, such as jobs with only one way to run."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gsopt.core.numbers.tolerances import SUM
from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.tables import Span, Tables


@dataclass(frozen=True, eq=False)
class Rigid:
    """Jobs that each run for a fixed number of seconds on a fixed number of GPUs."""

    release: Array
    seconds: Array
    gpus: Array
    speed: Array
    weight: Array
    start: Array

    @classmethod
    def of(cls, demand: Demand, jobs: Array, start: Array) -> Self:
        """Select the given jobs, which are released in the cells `start`."""
        lead = demand.first[jobs]
        speed = demand.speed[lead]
        return cls(
            release=demand.release[jobs],
            seconds=demand.work[jobs] / speed,
            gpus=demand.gpus[lead],
            speed=speed,
            weight=demand.weight[jobs],
            start=start,
        )

    def cost(self, tables: Tables, jobs: Array, end: Array) -> tuple[Array, Array]:
        """Return the costs of jobs that complete in the given cells, or infinity for jobs that cannot.

        Returns
        -------
        tuple
            The costs, and for each job the largest number q such that it runs throughout the part of its span
            (`Span`) that falls into the q cheapest of all cells.
        """
        span = Span.of(tables, self.start[jobs], end, self.release[jobs])
        gpus, price, weight = self.gpus[jobs], tables.prices[end], self.weight[jobs]
        begin, own = self._own(tables, span, jobs)
        rest = self.seconds[jobs] - own
        cheapest = _most_within(span, rest)
        last = np.maximum(rest - span.seconds(cheapest), 0.0)
        beyond = cheapest == tables.cells
        everywhere = span.seconds(np.full(len(jobs), tables.cells)) + tables.edges[end + 1] - begin
        top = tables.ascending[np.minimum(cheapest, tables.cells - 1)]
        bought = span.costs(cheapest) + np.where(beyond, 0.0, last * top)
        total = weight * (begin - self.release[jobs] + own) + gpus * (bought + own * price)
        return np.where(self.seconds[jobs] > everywhere, np.inf, total), cheapest

    def _own(self, tables: Tables, span: Span, jobs: Array) -> tuple[Array, Array]:
        """Return when jobs can first run in the cells in which they complete, and how long they run there.

        A job prefers an earlier cell if a second there costs less than a second in the last cell plus the
        delay of the completion.
        """
        begin = np.maximum(tables.edges[span.end], self.release[jobs])
        dear = tables.prices[span.end] + self.weight[jobs] / self.gpus[jobs]
        cheaper = span.seconds(np.searchsorted(tables.ascending, dear, side="left"))
        return begin, np.clip(self.seconds[jobs] - cheaper, 0.0, tables.edges[span.end + 1] - begin)

    def finish(self, tables: Tables, end: Array, cheapest: Array) -> tuple[Array, Array]:
        """Return the total usage of each cell and the slope of each job if jobs complete in the given cells."""
        span = Span.of(tables, self.start, end, self.release)
        _, own = self._own(tables, span, np.arange(len(end)))
        rest = self.seconds - own
        last = np.maximum(rest - span.seconds(cheapest), 0.0)
        beyond = cheapest == tables.cells
        usage = span.usage(cheapest, self.gpus)
        place = tables.order[np.minimum(cheapest, tables.cells - 1)]
        usage += np.bincount(place[~beyond], weights=(self.gpus * last)[~beyond], minlength=len(usage))
        usage += np.bincount(end, weights=self.gpus * own, minlength=len(usage))
        dear = np.where(own > 0, self.gpus * tables.prices[end] + self.weight, 0.0)
        partly = ~beyond & (last > SUM * self.seconds)
        top = tables.ascending[np.minimum(cheapest, tables.cells - 1)]
        bought = np.where(partly | (own <= 0), self.gpus * top, 0.0)
        return usage, np.maximum(dear, bought) / self.speed


def _most_within(span: Span, seconds: Array) -> Array:
    """Return the largest number of cheapest cells whose total length is at most each job's seconds."""
    low = np.zeros(len(seconds), dtype=np.int64)
    step = 1 << (span.tables.cells.bit_length() - 1)
    while step:
        trial = low + step
        inside = np.minimum(trial, span.tables.cells)
        low = np.where((trial <= span.tables.cells) & (span.seconds(inside) <= seconds), trial, low)
        step >>= 1
    return low
