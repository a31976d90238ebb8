"""Lagrangian: a relaxation in which jobs pay for GPUs and groups of GPUs, instead of sharing them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from formulations.scheduling.best import BestSchedule
from formulations.scheduling.branching import Relaxed, least_certain
from formulations.scheduling.bucket import Grid, insert, times_of_interest
from formulations.scheduling.lagrangian_kernel import Jobs, Prices, PriceSearch, Reach, Reals, climb
from formulations.scheduling.mixture import Item, lift_prices, shortest_mixture
from formulations.scheduling.relaxations import Cuts
from formulations.scheduling.windows import Windows

#: Minimum and maximum number of buckets of the first grids; the smallest distance of times that are added to a
#: grid, as a fraction of the horizon; and the factor by which it grows while a grid has too many buckets.
_BUCKETS, _MOST_BUCKETS, _APART, _COARSENING = 120, 250, 1e-6, 2.0

Singles = NDArray[np.float32]

#: Number of buckets that are halved after a split that hardly raised the bound.
_HALVED = 4

#: Lengths of the first and the last step (see `climb`); number of steps at first, in each further round at the
#: root, and at each node; number of rounds at the root; and size of steps between two looks at the clock, where
#: a step's size is the number of modes times the number of buckets: about a twentieth of a second.
_LONG, _SHORT = 0.2, 0.005
_FIRST_STEPS, _ROUND_STEPS, _STEPS, _ROUNDS = 1_500, 500, 100, 3
_CHUNK = 1_000_000

#: Maximum number of buckets for which cuts are sought in a solution, and the fraction by which configurations
#: must need more time than known limits suggest.
_EXAMINED, _LONGER = 10, 0.01

#: Fraction of its recent choices below which a bucket does not count as a completion of a job.
_RARE = 1e-3


@dataclass(frozen=True)
class _Point:
    """Prices on a grid, in single precision and without the prices of limits that are 0, to save memory."""

    times: Reals
    area: Singles
    shape: tuple[int, int]  # limits and buckets
    places: NDArray[np.int32]  # indices of the limits' prices in the flattened array
    values: Singles
    crowded: tuple[float, ...]  # middles of wide buckets in which jobs complete

    @classmethod
    def of(cls, times: Reals, prices: Prices, crowded: tuple[float, ...]) -> "_Point":
        places = np.flatnonzero(prices.limits).astype(np.int32)
        values = prices.limits.ravel()[places].astype(np.float32)
        return cls(times, prices.area.astype(np.float32), prices.limits.shape, places, values, crowded)

    def on(self, times: Reals, limits: int) -> Prices:
        """Return the prices on another grid. Those of limits that are new are 0."""
        known, buckets = self.shape
        prices = np.zeros((limits, buckets))
        prices[:known].ravel()[self.places] = self.values
        middles = (times[1:] + times[:-1]) / 2
        places = np.clip(np.searchsorted(self.times, middles) - 1, 0, buckets - 1)
        return Prices(self.area[places].astype(np.float64), prices[:, places])


class LagrangianRelaxation:
    """A relaxation of the problem on a grid of buckets, in which capacity is for sale.

    Each job completes within its window, and may use as many GPUs as its modes allow, whatever the others use.
    It pays for every second in a mode; the price depends on the bucket. The bound is the sum of all completion
    times and payments, if each job minimizes its own, minus the price of all capacity. It is a lower bound at
    any prices. A subgradient method looks for prices at which few buckets are overbooked. If completing a job
    in some bucket would raise the bound above the best known total, the job does not complete there in any
    better schedule. Each cut is a further capacity of 1, of which a mode takes up its price in the cut
    (`BucketModel`).

    At equal grids and optimal prices, the bound is at least that of `BucketModel` without orders of jobs. A
    step of the subgradient method takes far less time than the linear program, so the grid can be finer.
    """

    def __init__(self, best: BestSchedule, cuts: Cuts) -> None:
        self.best, self.cuts = best, cuts
        self._jobs = Jobs.of(best.instance, cuts.prices)

    def solve(self, windows: Windows, within: Relaxed | None, *, is_stuck: bool) -> Relaxed:
        """Raise the bound from the prices that are already known, narrow the windows, and choose a split."""
        windows = _in_order(windows)
        if within is None:
            return self._begin(windows)
        point: _Point = within.state
        times = point.times.tolist()
        split = () if within.split is None else within.split[1:]
        for time in (*split, *(point.crowded if is_stuck else ())):
            insert(times, time, _APART)
        return self._climb(windows, np.array(times), point, _STEPS, learns=is_stuck)

    def _begin(self, windows: Windows) -> Relaxed:
        """Raise the bound from prices of 0, on grids that follow the windows as they become narrower."""
        found = self._climb(windows, self._grid(windows), None, _FIRST_STEPS)
        for _ in range(_ROUNDS - 1):
            if found.split is None or self.best.budget.passed:
                break
            found = self._climb(found.windows, self._grid(found.windows), found.state, _ROUND_STEPS)
        return found

    def _grid(self, windows: Windows) -> Reals:
        """Return a grid of release dates, windows, and completion times in the best schedule.

        The buckets in which many windows end are halved until there are enough.
        """
        wanted, shortest, times = times_of_interest(self.best, windows), _APART, list[float]()
        while not times or (len(times) > _MOST_BUCKETS and shortest < 1):
            times = list(Grid.of(self.best.instance, windows, wanted, shortest=shortest).times)
            shortest *= _COARSENING
        low, high = np.array(windows.spans).T
        while len(times) <= _BUCKETS:
            grid = np.array(times)
            both = np.minimum(grid[1:, None], high) - np.maximum(grid[:-1, None], low)
            share = np.maximum(both, 0.0) / np.maximum(high - low, _APART * grid[-1])
            widest = int(np.argmax(share.sum(axis=1) * np.diff(grid)))
            times.insert(widest + 1, (times[widest] + times[widest + 1]) / 2)
        return np.array(times)

    def _climb(
        self, windows: Windows, times: Reals, known: _Point | None, count: int, *, learns: bool = True
    ) -> Relaxed:
        """Take a number of steps, unless the bound reaches the goal or time runs out earlier."""
        jobs, best, buckets = self._jobs, self.best, len(times) - 1
        limits = len(jobs.limits)
        first = (
            Prices(np.zeros(buckets), np.zeros((limits, buckets))) if known is None else known.on(times, limits)
        )
        search, reach, bound = PriceSearch.of(jobs, first), _reach(jobs, times, windows), -inf
        steps = np.geomspace(_LONG, _SHORT, count)
        for part in np.array_split(steps, min(count, ceil(count * jobs.rate.size * buckets / _CHUNK))):
            bound = climb(jobs, reach, times, search, best.goal, bound, part)
            if bound >= best.goal or best.budget.passed:
                break
        if bound >= best.goal:
            return Relaxed(bound, windows)
        if learns and self.cuts.learn(partial(self._overfull, np.diff(times), search.spent)):
            self._jobs = Jobs.of(best.instance, self.cuts.prices)
        possible = search.cost - search.cost.min(axis=1, keepdims=True) <= best.limit - bound
        begin, end = possible.argmax(axis=1), buckets - possible[:, ::-1].argmax(axis=1)
        windows = windows.narrowed(list(zip(times[begin].tolist(), times[end].tolist(), strict=True)))
        parts = [list(_parts(times, row)) for row in search.chosen]
        split = least_certain(windows, parts)
        means = [sum((begin + end) / 2 * weight for begin, end, weight in own) for own in parts]
        crowded = _crowded(times, search.chosen)
        return Relaxed(bound, windows, means, split, _Point.of(times, search.best, crowded))

    def _overfull(self, lengths: Reals, spent: Reals) -> Iterator[Mapping[Item, float]]:
        """Yield prices of modes for buckets in which configurations need more time than all limits suggest.

        `spent` holds the seconds in each mode and bucket, shape (jobs, modes, buckets).
        """
        jobs, instance = self._jobs, self.best.instance
        area = np.einsum("jk,jkb->b", jobs.area, spent) / jobs.gpus
        limits = np.einsum("ljk,jkb->lb", jobs.taken, spent) / jobs.limits[:, None]
        least = np.vstack([area, limits, spent.sum(axis=1)]).max(axis=0)
        for bucket in np.argsort(-least, kind="stable")[:_EXAMINED].tolist():
            if self.best.budget.passed:
                return
            items = {item: float(spent[*item, bucket]) for item in np.ndindex(*spent.shape[:2])}
            there = {item: time for item, time in items.items() if time > _RARE * lengths[bucket]}
            mixture = shortest_mixture(instance, there)
            if mixture.length > (1 + _LONGER) * least[bucket]:
                yield lift_prices(instance, mixture.prices)


def _in_order(windows: Windows) -> Windows:
    """Narrow windows by the known orders: the first job of each completes no later than the second."""
    while True:
        low, high = (list(ends) for ends in zip(*windows.spans, strict=True))
        for first, second in windows.orders:
            low[second] = max(low[second], low[first])
            high[first] = min(high[first], high[second])
        narrowed = windows.narrowed(list(zip(low, high, strict=True)))
        if narrowed.spans == windows.spans:
            return windows
        windows = narrowed


def _reach(jobs: Jobs, times: Reals, windows: Windows) -> Reach:
    """Return the buckets in which each job may run and complete."""
    low, high = np.array(windows.spans).T.copy()
    begin = np.minimum(np.searchsorted(times, jobs.release, side="right"), len(times) - 1) - 1
    last = np.maximum(np.searchsorted(times, high) - 1, begin)
    first = np.minimum(np.maximum(np.searchsorted(times, low, side="right") - 1, begin), last)
    return Reach(low, high, begin, first, last)


def _parts(times: Reals, chosen: Reals) -> Iterator[tuple[float, float, float]]:
    """Yield the buckets that a job chose recently: where they begin and end, and their weights."""
    for bucket in np.flatnonzero(chosen > _RARE).tolist():
        yield float(times[bucket]), float(times[bucket + 1]), float(chosen[bucket])


def _crowded(times: Reals, chosen: Reals) -> tuple[float, ...]:
    """Return the middles of the buckets in which completions are the least certain, as many as are halved."""
    worth = chosen.sum(axis=0) * np.diff(times)
    places = np.argsort(-worth, kind="stable")[:_HALVED]
    return tuple(((times[places] + times[places + 1]) / 2).tolist())
