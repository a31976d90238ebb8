"""Tables: look-up tables for the total length and price of the cheapest cells before any given cell."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gsopt.schedule.bounds.prices.demand import Array


@dataclass(frozen=True, eq=False)
class Tables:
    """The cells of one row of prices, in order of time and in order of price.

    Attributes
    ----------
    edges, prices
        The edges and prices of the cells in order of time. The last cell has no end, and its price is 0.
    ascending
        The prices of all cells except the last, in ascending order.
    order, rank
        The cells, without the last one, in ascending order of price; and the position of each cell in this
        order, where the last cell comes after all others.
    seconds, costs
        ``seconds[b, q]`` is the total length of the cells that are among the first b and among the q
        cheapest. ``costs[b, q]`` is the price of one GPU during these cells.
    """

    edges: Array
    prices: Array
    ascending: Array
    order: Array
    rank: Array
    seconds: Array
    costs: Array

    @classmethod
    def of(cls, edges: Array, prices: Array) -> Self:
        """Create the tables for cells with the given edges and prices."""
        cells = len(prices) - 1
        order = np.argsort(prices[:-1], kind="stable")
        rank = np.empty(cells + 1, dtype=np.int64)
        rank[order] = np.arange(cells)
        rank[cells] = cells
        lengths = np.zeros((cells + 1, cells + 1))
        lengths[np.arange(1, cells + 1), rank[:-1] + 1] = np.diff(edges[:-1])
        by_cell = lengths.cumsum(axis=0)
        ascending = prices[order]
        return cls(
            edges=edges,
            prices=prices,
            ascending=ascending,
            order=order,
            rank=rank,
            seconds=by_cell.cumsum(axis=1),
            costs=(by_cell * np.append(0.0, ascending)).cumsum(axis=1),
        )

    @property
    def cells(self) -> int:
        """Number of cells, not counting the last one."""
        return len(self.ascending)


@dataclass(frozen=True, eq=False)
class Span:
    """Time spans of jobs, from their release dates to the beginning of the cells in which they complete.

    Attributes
    ----------
    tables
        The look-up tables of the cells.
    start, end
        Cells in which the jobs are released and in which they complete, one per job.
    cut
        Time between the beginning of the first cell and the release; 0 if the first cell is also the last
        one.
    """

    tables: Tables
    start: Array
    end: Array
    cut: Array

    @classmethod
    def of(cls, tables: Tables, start: Array, end: Array, release: Array) -> Self:
        """Create the spans of jobs with the given release dates."""
        return cls(tables, start, end, np.where(start < end, release - tables.edges[start], 0.0))

    def _shaped(self, cheapest: Array) -> tuple[Array, Array, Array]:
        shape = (-1,) + (1,) * (cheapest.ndim - 1)
        return self.start.reshape(shape), self.end.reshape(shape), self.cut.reshape(shape)

    def seconds(self, cheapest: Array) -> Array:
        """Return how much of each job's span falls into the q cheapest of all cells.

        `cheapest` contains one or several values of q per job.
        """
        start, end, cut = self._shaped(cheapest)
        table = self.tables.seconds
        found: Array = (
            table[end, cheapest] - table[start, cheapest] - cut * (self.tables.rank[start] < cheapest)
        )
        return found

    def costs(self, cheapest: Array) -> Array:
        """Return the price of a GPU during the part of each job's span that falls into the q cheapest cells.

        `cheapest` contains one or several values of q per job.
        """
        start, end, cut = self._shaped(cheapest)
        table = self.tables.costs
        lost = cut * self.tables.prices[start] * (self.tables.rank[start] < cheapest)
        found: Array = table[end, cheapest] - table[start, cheapest] - lost
        return found

    def usage(self, cheapest: Array, gpus: Array) -> Array:
        """Return the total GPU-seconds by cell if each job holds `gpus` GPUs in a part of its span.

        It is the part that falls into the q cheapest of all cells. `cheapest` contains one value of q per job.
        """
        cells = self.tables.cells
        rank = self.tables.rank
        counts = np.zeros((cells + 1, cells + 1))
        np.add.at(counts, (self.start, cheapest), gpus)
        np.add.at(counts, (self.end, cheapest), -gpus)
        running = counts.cumsum(axis=0)[:, ::-1].cumsum(axis=1)[:, ::-1]
        here = np.arange(cells)
        found = np.zeros(cells + 1)
        found[:-1] = running[here, rank[:-1] + 1] * np.diff(self.tables.edges[:-1])
        lost = np.where(rank[self.start] < cheapest, self.cut * gpus, 0.0)
        found -= np.bincount(self.start, weights=lost, minlength=cells + 1)
        return found
