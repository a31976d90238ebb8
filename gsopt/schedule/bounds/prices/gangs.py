"""Gangs: surcharges on prices of GPU time, for jobs that do not all fit on the cluster beside a large gang."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import fsum

import numpy as np

from gsopt.core.numbers.tolerances import SUM
from gsopt.schedule.bounds.prices.ascent import Prices, Surcharge, prove, slipped
from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.evaluation import PriceEvaluation, evaluate
from gsopt.schedule.bounds.prices.levels import climb_levels
from gsopt.schedule.bounds.prices.supply import GpuSupply

#: Smallest part of the cluster that a large gang needs.
_LARGE = 1 / 4

#: Length of the time with surcharges, and of the times before and after it in which prices change too, as
#: multiples of the gang's duration; and the largest number of periods with constant surcharges.
_REACH, _MARGIN, _PERIODS = 2.0, 0.5, 64

#: Minimum duration of the jobs that may have surcharges, as a fraction of the gang's.
_LONG = 0.02

#: Number of evaluations for each gang.
_EVALUATIONS = 2_000


class _Done(Exception):
    """Raised when the evaluations for a gang are used up."""


def large_gangs(demand: Demand, supply: GpuSupply, is_rigid: Array, count: int) -> list[int]:
    """Return up to `count` rigid jobs that need at least a quarter of the cluster, largest areas first."""
    large = np.flatnonzero(is_rigid & (demand.gpus_in_all >= _LARGE * supply.most))
    order = np.argsort(-demand.area[large], kind="stable")
    found: list[int] = large[order[:count]].tolist()
    return found


class GangAscent:
    """The search for surcharges around a gang, and for prices that suit them.

    Prices alone treat GPUs as divisible: beside jobs that leave a third of the cluster, a gang of half the
    cluster could run at two thirds of its speed. But the jobs that run at any time must fit on the cluster
    together. If jobs pay surcharges, the bound remains valid if it is reduced, for each second, by the largest
    total surcharge of jobs that fit together. This is the value of a knapsack problem.

    Parameters
    ----------
    gang
        Index of the gang.
    demand, supply
        The jobs, and the GPUs that are available.
    start
        Prices, and surcharges around other gangs, which are kept as they are.
    is_rigid
        Whether each job has only one way to run, so that it may have surcharges.
    compiled
        Whether evaluations use the compiled kernel.
    check
        Function that is called before each evaluation and each knapsack; it may raise `Enough`.
    """

    def __init__(
        self,
        gang: int,
        demand: Demand,
        supply: GpuSupply,
        start: Prices,
        is_rigid: Array,
        *,
        compiled: bool,
        check: Callable[[], None],
    ) -> None:
        self.best, self._before, self._compiled, self._check = start, start, compiled, check
        edges, release, seconds = start.edges, demand.release, demand.height
        begin, span = release[gang], seconds[gang]
        end = begin + _REACH * span
        self._gpus, self._there = int(supply.most), supply.gpu_seconds(edges)
        self._near = (edges[1:] > begin - _MARGIN * span) & (edges[:-1] < end + _MARGIN * span)
        self._divide(begin, end)
        competes = (seconds >= _LONG * span) & (release < end) & (release + seconds > begin)
        own = np.flatnonzero(is_rigid & competes)
        charged = np.unique([*own.tolist(), *(job for each in start.surcharges for job in each.prices)])
        self._rows, self._sizes = np.searchsorted(charged, own), demand.gpus_in_all[own].astype(int)
        self._take_over(demand, charged)
        kind = demand.kind.copy()
        kind[charged] = len(start.prices) + np.arange(len(charged))
        self._leave_out(replace(demand, kind=kind))
        self._own, self._slip = own.tolist(), slipped(demand)

    def _divide(self, begin: float, end: float) -> None:
        """Divide the time with surcharges into periods of whole cells."""
        edges = self._before.edges
        first, last = np.searchsorted(edges[:-1], (begin, end), side="right") - (1, 0)
        centers = (edges[first:last] + edges[first + 1 : last + 1]) / 2
        periods = np.clip((centers - begin) / (end - begin) * _PERIODS, 0, _PERIODS - 1).astype(int)
        self._begins = first + np.flatnonzero(np.diff(periods, prepend=-1))
        self._ends = np.append(self._begins[1:], last)
        self._seconds = edges[self._ends] - edges[self._begins]

    def _take_over(self, demand: Demand, charged: Array) -> None:
        """Take over the surcharges around other gangs, and what is subtracted for them."""
        edges, rents = self._before.edges, []
        self._charges = np.zeros((len(charged), len(edges) - 1))
        for begin, end, prices in self._before.surcharges:
            jobs, rates = np.array(list(prices)), np.array(list(prices.values()))
            self._charges[np.searchsorted(charged, jobs), begin:end] += rates[:, None]
            sizes = demand.gpus_in_all[jobs].astype(int)
            most, _ = fullest(sizes, sizes * rates, self._gpus)
            rents.append(most * (edges[end] - edges[begin]))
        self._rents = np.array(rents)

    def _leave_out(self, demand: Demand) -> None:
        """Leave out the jobs whose least costs do not depend on the prices near the gang.

        These are released later. Or a plan that ends earlier costs less than any plan that does not, whatever
        GPUs cost then.
        """
        edges, near = self._before.edges, np.flatnonzero(self._near)
        found = self._costs(demand, self._before.prices, self._charges)
        early = found.values * (1 + SUM) < demand.weight * (edges[near[0]] - demand.release)
        late = demand.release >= edges[near[-1] + 1]
        self._jobs = np.flatnonzero(~early & ~late)
        self._demand, self._others = demand.only(self._jobs), found
        self._other_values, self._other_sizes = (
            fsum(np.delete(each, self._jobs).tolist()) for each in (found.values, found.sizes)
        )

    def _costs(self, demand: Demand, prices: Array, charges: Array) -> PriceEvaluation:
        self._check()
        by_kind = np.concatenate([prices[:1], prices[:1] + prices[1:], prices[:1] + charges])
        return evaluate(demand, self._before.edges, by_kind, compiled=self._compiled)

    def climb(self) -> None:
        """Improve the prices and surcharges step by step."""
        start, lengths, sizes = self._before, np.diff(self._before.edges), self._sizes[:, None]
        unit = np.sqrt(start.value * lengths) / np.maximum(self._there, lengths)
        units = np.append(unit[:, self._near], np.sqrt(start.value / (sizes * self._gpus * self._seconds)))
        near = unit[:, self._near].size

        def rise(point: Array) -> tuple[float, Array]:
            if self.best.evaluations >= start.evaluations + _EVALUATIONS:
                raise _Done
            prices = start.prices.copy()
            prices[:, self._near] = (point * units)[:near].reshape(len(prices), -1)
            surcharges = (point * units)[near:].reshape(len(sizes), -1)
            value, slope, slope_of_surcharges = self._evaluate(prices, surcharges)
            slopes = np.append(slope[:, self._near], slope_of_surcharges)
            return value / start.value, slopes * units / start.value

        point = np.append(start.prices[:, self._near], np.zeros((len(sizes), len(self._seconds))))
        with suppress(_Done):
            climb_levels(rise, point / units)

    def _evaluate(self, prices: Array, surcharges: Array) -> tuple[float, Array, Array]:
        """Return the bound, and its slopes by the prices and surcharges near the gang."""
        cells, sizes = slice(self._begins[0], self._ends[-1]), self._sizes[:, None]
        charges = self._charges.copy()
        charges[self._rows, cells] += np.repeat(surcharges, self._ends - self._begins, axis=1)
        found = self._costs(self._demand, prices, charges)
        packings = [self._packing(values) for values in (sizes * surcharges).T]
        most, runs = np.array([total for total, _ in packings]), np.array([jobs for _, jobs in packings]).T
        rents = np.concatenate([(prices * self._there).ravel(), most * self._seconds, self._rents])
        value = prove(
            np.append(found.values, self._other_values),
            np.append(found.sizes, self._other_sizes),
            rents,
            max(len(self._before.edges) * self._demand.most_steps, len(charges)),
        )
        self._keep(value - self._slip, prices, surcharges, found.slopes)
        usage = found.usage[:, :-1]
        used = np.add.reduceat(usage[len(prices) :][self._rows][:, cells], self._begins - cells.start, axis=1)
        slope = np.concatenate([usage.sum(axis=0, keepdims=True), usage[1 : len(prices)]]) - self._there
        return value - self._slip, slope, used - sizes * runs * self._seconds

    def _packing(self, values: Array) -> tuple[float, Array]:
        self._check()
        return fullest(self._sizes, values, self._gpus)

    def _keep(self, value: float, prices: Array, surcharges: Array, slopes: Array) -> None:
        """Keep prices and surcharges if they prove more than the best ones."""
        evaluations = self.best.evaluations + 1
        if value > self.best.value:
            all_slopes = self._others.slopes.copy()
            all_slopes[self._jobs] = slopes
            periods = zip(self._begins.tolist(), self._ends.tolist(), surcharges.T.tolist(), strict=True)
            new = (
                Surcharge(begin, end, {job: price for job, price in zip(self._own, row, strict=True) if price})
                for begin, end, row in periods
            )
            chosen = (*self._before.surcharges, *(each for each in new if each.prices))
            self.best = Prices(self._before.edges, prices, value, all_slopes, evaluations, chosen)
        else:
            self.best = replace(self.best, evaluations=evaluations)


def fullest(sizes: Array, values: Array, gpus: int) -> tuple[float, Array]:
    """Return the largest total value of jobs that fit on the GPUs together, and which jobs these are.

    Parameters
    ----------
    sizes, values
        Number of GPUs, at least 1, and value of each job, at least 0.
    gpus
        Number of GPUs of the cluster.
    """
    chosen = values > 0
    if sizes[chosen].sum() <= gpus:
        return float(values.sum()), chosen
    items = np.flatnonzero(chosen)
    best, takes = np.zeros(gpus + 1), np.zeros((len(items), gpus + 1), dtype=bool)
    for row, job in zip(takes, items, strict=True):
        taken = best[: max(gpus + 1 - sizes[job], 0)] + values[job]
        row[sizes[job] :] = taken > best[sizes[job] :]
        best[sizes[job] :] = np.maximum(best[sizes[job] :], taken)
    room, chosen = gpus, np.zeros(len(sizes), dtype=bool)
    for row, job in zip(takes[::-1], items[::-1], strict=True):
        chosen[job] = row[room]
        room -= int(sizes[job] * chosen[job])
    return float(best[gpus]), chosen
