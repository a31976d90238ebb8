"""Ascent: the step-by-step search for better prices, on increasingly fine time cells."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count
from math import fsum, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from gsopt.core.numbers.tolerances import PRICED, SUM
from gsopt.schedule.bounds.prices.bundle import climb_kinks
from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.evaluation import evaluate
from gsopt.schedule.bounds.prices.fluid import fluid_schedule
from gsopt.schedule.bounds.prices.grid import first_edges, split
from gsopt.schedule.bounds.prices.quasi_newton import climb
from gsopt.schedule.bounds.prices.supply import GpuSupply
from gsopt.schedule.bounds.prices.trainings import Trainings

#: Number of cells of the first grid, and the number of jobs up to which it is used. For more jobs, which last
#: for a longer time, the number of cells grows with the square root of the number of jobs. Each further grid
#: has up to twice as many cells.
FIRST_CELLS, _USUAL_JOBS = 40, 1_600

#: Number of evaluations on the first grid, and the increase with each further grid.
_EVALUATIONS, _MORE = 60, 60

#: Number of jobs from which on the bound is so smooth that a quasi-Newton method climbs faster than a bundle
#: method, and that it needs no good start.
_FEW_JOBS = 100

#: Total rent of the GPU types between which trainings choose, as a fraction of the bound: at the initial
#: prices, and at the lowest allowed prices.
_FIRST_RENT, _LEAST_RENT = 0.01, 1e-7


class Surcharge(NamedTuple):
    """Surcharges on the price of a GPU-second, for individual jobs in consecutive cells.

    Attributes
    ----------
    begin, end
        Index of the first cell, and of the cell after the last one.
    prices
        The surcharges, keyed by the index of the job.
    """

    begin: int
    end: int
    prices: Mapping[int, float]


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices, and the bound that they prove, with times in the unit of `Demand`.

    Attributes
    ----------
    edges
        The edges of the time cells. After the last edge, GPUs cost nothing.
    prices
        The price of a GPU-second, by row and cell. The first row applies to the whole cluster, and the other
        rows are surcharges for GPU types.
    value
        The bound on the weighted sum of job completion times.
    slopes
        Costs of one more second of work, one per job.
    evaluations
        Number of price vectors tried so far.
    surcharges
        Surcharges around large gangs.
    """

    edges: Array
    prices: Array
    value: float
    slopes: Array
    evaluations: int
    surcharges: tuple[Surcharge, ...] = ()


def first_cells(jobs: int) -> int:
    """Return the number of cells in the first grid for the given number of jobs."""
    return int(FIRST_CELLS * max(1.0, sqrt(jobs / _USUAL_JOBS)))


class Enough(Exception):
    """Raised by a function of the caller, such as `on_evaluation`, to end the search."""


class _NextGrid(Exception):
    """Raised when the evaluations planned for a grid are used up."""


class Ascent:
    """The best prices so far, and the search for better ones.

    The bound is a concave, piecewise linear function of the prices. With many jobs it is nearly smooth, so a
    quasi-Newton method climbs faster than subgradient steps, and it needs to know neither the optimum nor step
    lengths. With fewer than 100 jobs, such a method gets stuck at kinks. Then, unless there are `trainings`, a
    bundle method is used, and it starts from what a GPU-second is worth in a rough schedule.

    Parameters
    ----------
    demand, supply
        The jobs, and the GPUs that are available.
    cells
        The largest number of cells.
    compiled
        Whether evaluations use the compiled kernel.
    trainings
        The adaptive jobs. The order of their epochs is taken into account from the second grid on, or from
        the first grid on if they choose between GPU types. If None, the order is ignored.
    on_evaluation
        Function that is called with the best prices after each evaluation; it may raise `Enough`.
    """

    def __init__(
        self,
        demand: Demand,
        supply: GpuSupply,
        *,
        cells: int,
        compiled: bool,
        trainings: Trainings | None = None,
        on_evaluation: Callable[[Prices], Any] = lambda _: None,
    ) -> None:
        self.demand, self.supply, self.cells, self.compiled = demand, supply, cells, compiled
        self._trainings, self._on_evaluation = trainings, on_evaluation
        self._chooses = trainings is not None and trainings.tells_types
        areas = trainings.areas(supply.gpus[:, -1]) if trainings is not None and self._chooses else None
        wanted = min(first_cells(len(demand)), cells)
        self._climb: Callable[[Any, Array], None] = climb
        fluid = None
        if len(demand) < _FEW_JOBS and trainings is None:
            wanted = min(wanted, cells * 2 // 3)  # as completion times add half as many
            fluid, self._climb = fluid_schedule(demand, supply), partial(climb_kinks, compiled=compiled)
        edges = first_edges(demand, supply, wanted, areas, None if fluid is None else fluid.completion)
        prices = np.zeros((supply.rows, len(edges) - 1))
        if fluid is not None:
            prices[0] = fluid.worth(demand, edges, supply.gpu_seconds(edges)[0])
        self.best = Prices(edges, prices, -inf, np.zeros(len(demand)), 0)

    def take(self, edges: Array, prices: Array) -> None:
        """Start the search from the given cells and prices."""
        self.best = replace(self.best, edges=edges, prices=prices)

    def climb(self) -> None:
        """Improve the prices on increasingly fine cells, up to the largest number of cells."""
        for level in count():
            evaluations = _EVALUATIONS + level * _MORE
            trainings = self._trainings if level or self._chooses else None
            is_second = level == 1 and not self._chooses
            if trainings is not None and is_second:  # the order of epochs takes long, and its prices are near
                self._climb_on_grid(_EVALUATIONS, None)
                evaluations -= _EVALUATIONS
            self._climb_on_grid(evaluations, trainings)
            wanted = min(2 * len(self.best.edges), self.cells)
            edges, prices = split(self.best.edges, self.best.prices, wanted)
            if len(edges) == len(self.best.edges):
                return
            self.best = replace(self.best, edges=edges, prices=prices)

    def _climb_on_grid(self, evaluations: int, trainings: Trainings | None) -> None:
        """Improve the prices on the current cells with the given number of evaluations.

        With trainings, the last evaluation cuts their courses into finer parts.
        """
        edges, shape = self.best.edges, self.best.prices.shape
        there, lengths = self.supply.gpu_seconds(edges), np.diff(edges)
        last = self.best.evaluations + evaluations - (trainings is not None)
        if is_first := self.best.value == -inf:
            self._evaluate(edges, self.best.prices, there, trainings)
        size = abs(self.best.value) or 1.0
        unit = np.sqrt(size * lengths) / np.maximum(there, lengths)
        start, least = self.best.prices, np.zeros((shape[0], 1))
        if self._chooses:  # at no price at all a training run counts as holding no GPUs
            rent = size / max(float(there[1:].sum()), 1.0)
            least[1:] = _LEAST_RENT * rent
            start = np.maximum(start, _FIRST_RENT * rent if is_first else least)

        def rise(point: Array) -> tuple[float, Array]:
            if self.best.evaluations >= last:
                raise _NextGrid
            prices = np.maximum(point.reshape(shape) * unit, least)
            value, slope = self._evaluate(edges, prices, there, trainings)
            return value / size, (slope * unit).ravel() / size

        with suppress(_NextGrid):
            self._climb(rise, (start / unit).ravel())
        if trainings is not None:
            self._evaluate(edges, self.best.prices, there, trainings, fine=True)

    def _evaluate(
        self,
        edges: Array,
        prices: Array,
        there: Array,
        trainings: Trainings | None = None,
        *,
        fine: bool = False,
    ) -> tuple[float, Array]:
        """Return the bound proven by the prices, and the GPU-seconds that jobs use beyond the supply."""
        by_kind = np.concatenate([prices[:1], prices[:1] + prices[1:]])
        slopes, jobs = np.empty(len(self.demand)), np.arange(len(self.demand))
        values, usage, error = list[float](), np.zeros((len(by_kind), len(edges))), self._slipped
        if trainings is not None:
            trained = trainings.evaluate(edges, by_kind, fine=fine)
            jobs = np.setdiff1d(jobs, trainings.jobs)
            slopes[trainings.jobs] = trained.slopes
            values, usage, error = trained.values.tolist(), trained.usage, error + trained.error
        others = self.demand if trainings is None else self._others
        sizes = np.zeros(0)
        if len(jobs):
            found = evaluate(others, edges, by_kind, compiled=self.compiled)
            slopes[jobs], sizes, usage = found.slopes, found.sizes, usage + found.usage
            values += found.values.tolist()
        value = prove(np.array(values), sizes, prices * there, len(edges) * self.demand.most_steps) - error
        usage = usage[:, :-1]
        slope = np.concatenate([usage.sum(axis=0, keepdims=True), usage[1:]]) - there
        evaluations = self.best.evaluations + 1
        if value > self.best.value:
            self.best = Prices(edges, prices, value, slopes, evaluations)
        else:
            self.best = replace(self.best, evaluations=evaluations)
        self._on_evaluation(self.best)
        return value, slope

    @cached_property
    def _others(self) -> Demand:
        """The jobs that are not trainings."""
        trained = np.zeros(0) if self._trainings is None else self._trainings.jobs
        return self.demand.only(np.setdiff1d(np.arange(len(self.demand)), trained))

    @cached_property
    def _slipped(self) -> float:
        return slipped(self.demand)


def slipped(demand: Demand) -> float:
    """Return the total weighted error in completion times that is caused by rounding release dates down."""
    return float(demand.slip @ demand.weight) * (1 + SUM)


def prove(values: Array, sizes: Array, rents: Array, terms: int) -> float:
    """Return the bound: the costs of the jobs minus the rents, minus the largest possible rounding error.

    The rents are the prices of all available GPU-seconds. Each cost is a sum of at most `terms` terms, and each
    entry of `sizes` is an upper limit on the sum of their magnitudes for one cost. Costs without such an entry
    are taken as they are; the caller subtracts their rounding errors.
    """
    total = fsum([*values.tolist(), *(-rents).ravel().tolist()])
    return total - PRICED * terms * fsum([*sizes.tolist(), *rents.ravel().tolist()])
