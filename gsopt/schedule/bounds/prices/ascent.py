"""Ascent: improving prices step by step, on finer and finer cells of time."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from math import fsum, inf, sqrt
from typing import Any

import numpy as np

from gsopt.core.numbers.tolerances import PRICED, SUM
from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.evaluation import evaluate
from gsopt.schedule.bounds.prices.grid import first_edges, split
from gsopt.schedule.bounds.prices.quasi_newton import climb
from gsopt.schedule.bounds.prices.supply import GpuSupply

#: Cells of the first grid for a number of jobs, and in the ratio of its root for more of them, which are there
#: for a longer time. Each further grid has twice as many.
FIRST_CELLS, _USUAL_JOBS = 40, 1_600

#: Evaluations on the first grid, and how many more there are on each further one.
_EVALUATIONS, _MORE = 60, 60


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices, and the bound that they prove.

    Attributes
    ----------
    edges
        Edges of the cells of time; beyond the last one GPUs are free.
    prices
        Price of a GPU-second, by row and cell; the first row is for the whole cluster, the others are
        surcharges for GPU types.
    value
        Bound on the weighted sum of job completion times.
    slopes
        Cost of one more second of work, for each job.
    evaluations
        Number of price vectors tried so far.
    """

    edges: Array
    prices: Array
    value: float
    slopes: Array
    evaluations: int


def first_cells(jobs: int) -> int:
    """Return the number of cells of the first grid."""
    return int(FIRST_CELLS * max(1.0, sqrt(jobs / _USUAL_JOBS)))


class Enough(Exception):
    """Raised by the caller's function when the bound is good enough."""


class _NextGrid(Exception):
    """Raised when the evaluations planned for a grid are used up."""


class Ascent:
    """The best prices so far, and the search for better ones.

    The bound is a concave, piecewise linear function of the prices. With many jobs it is nearly smooth, so a
    quasi-Newton method climbs faster than subgradient steps, and needs neither the optimum nor step lengths.

    Parameters
    ----------
    demand, supply
        The jobs, and the GPUs that are available.
    cells
        Largest number of cells.
    compiled
        Whether evaluations use the compiled kernel.
    on_evaluation
        Called with the best prices after each evaluation; it may raise `Enough`.
    """

    def __init__(
        self,
        demand: Demand,
        supply: GpuSupply,
        *,
        cells: int,
        compiled: bool,
        on_evaluation: Callable[[Prices], Any] = lambda _: None,
    ) -> None:
        self.demand, self.supply, self.cells, self.compiled = demand, supply, cells, compiled
        self._on_evaluation = on_evaluation
        edges = first_edges(demand, supply, min(first_cells(len(demand)), cells))
        nothing = np.zeros((supply.rows, len(edges) - 1))
        self.best = Prices(edges, nothing, -inf, np.zeros(len(demand)), 0)

    def take(self, edges: Array, prices: Array) -> None:
        """Start from known prices."""
        self.best = replace(self.best, edges=edges, prices=prices)

    def climb(self) -> None:
        """Climb on finer and finer cells, up to their largest number."""
        for level in count():
            self._climb_on_grid(_EVALUATIONS + level * _MORE)
            wanted = min(2 * len(self.best.edges), self.cells)
            edges, prices = split(self.best.edges, self.best.prices, wanted)
            if len(edges) == len(self.best.edges):
                return
            self.best = replace(self.best, edges=edges, prices=prices)

    def _climb_on_grid(self, evaluations: int) -> None:
        """Climb on the cells of the best prices for a number of evaluations."""
        edges, shape = self.best.edges, self.best.prices.shape
        there, lengths = self.supply.gpu_seconds(edges), np.diff(edges)
        last = self.best.evaluations + evaluations
        if self.best.value == -inf:
            self._evaluate(edges, self.best.prices, there)
        size = abs(self.best.value) or 1.0
        unit = np.sqrt(size * lengths) / np.maximum(there, lengths)

        def rise(point: Array) -> tuple[float, Array]:
            if self.best.evaluations >= last:
                raise _NextGrid
            value, slope = self._evaluate(edges, point.reshape(shape) * unit, there)
            return value / size, (slope * unit).ravel() / size

        with suppress(_NextGrid):
            climb(rise, (self.best.prices / unit).ravel())

    def _evaluate(self, edges: Array, prices: Array, there: Array) -> tuple[float, Array]:
        """Return the bound proven by prices, and the GPU-seconds that jobs would use beyond the supply."""
        by_kind = np.concatenate([prices[:1], prices[:1] + prices[1:]])
        found = evaluate(self.demand, edges, by_kind, compiled=self.compiled)
        value = prove(found.values, found.sizes, prices * there, len(edges) * self.demand.most_steps)
        value -= self._slipped
        usage = found.usage[:, :-1]
        slope = np.concatenate([usage.sum(axis=0, keepdims=True), usage[1:]]) - there
        evaluations = self.best.evaluations + 1
        if value > self.best.value:
            self.best = Prices(edges, prices, value, found.slopes, evaluations)
        else:
            self.best = replace(self.best, evaluations=evaluations)
        self._on_evaluation(self.best)
        return value, slope

    @cached_property
    def _slipped(self) -> float:
        """Return what rounding release dates down adds to the times from release to completion."""
        return float(self.demand.slip @ self.demand.weight) * (1 + SUM)


def prove(values: Array, sizes: Array, rents: Array, terms: int) -> float:
    """Return the bound proven by jobs and rents, minus all possible rounding errors.

    Each value is a sum of at most `terms` terms, whose total magnitude is at most its size.
    """
    total = fsum([*values.tolist(), *(-rents).ravel().tolist()])
    return total - PRICED * terms * fsum([*sizes.tolist(), *rents.ravel().tolist()])
