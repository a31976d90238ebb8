"""Vectors: the minimum cost of completing each job at given prices, for all jobs at once with numpy."""

import numpy as np

from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.elastic import Elastic
from gsopt.schedule.bounds.prices.rigid import Rigid
from gsopt.schedule.bounds.prices.tables import Tables

#: Minimum number of pairs of a job and a cell that are evaluated together, as each evaluation has a fixed
#: cost.
_BLOCK = 1_000


def evaluate_vectors(
    demand: Demand,
    edges: Array,
    prices: Array,
    values: Array,
    slopes: Array,
    sizes: Array,
    usage: Array,
) -> None:
    """Evaluate all jobs as `kernel.evaluate_jobs` does, up to rounding, and fill the last four arrays.

    The jobs with the same row of `prices` are evaluated together: first in the earliest cell in which each can
    complete, then in the next cell, and so on, until no later cell can be cheaper than the best one so far.
    """
    for row in range(len(prices)):
        chosen = np.flatnonzero(demand.kind == row)
        if len(chosen):
            tables = Tables.of(edges, prices[row])
            start = np.searchsorted(edges, demand.release[chosen], side="right") - 1
            jobs = (Rigid if demand.is_rigid else Elastic).of(demand, chosen, start)
            best, end, how = _best_cells(demand, chosen, jobs, tables, start)
            values[chosen] = best
            usage[row], slopes[chosen] = jobs.finish(tables, end, how)
            paid = demand.gpus_in_all[chosen] * tables.costs[-1, -1]
            done = demand.work[chosen] + demand.work[chosen] / demand.height[chosen] * edges[-2]
            sizes[chosen] = best + paid + done * slopes[chosen] + demand.weight[chosen] * edges[-2]


def _best_cells(
    demand: Demand, chosen: Array, jobs: Rigid | Elastic, tables: Tables, start: Array
) -> tuple[Array, Array, Array]:
    """Return the minimum cost of each job, the cell in which it then completes, and the plan behind it."""
    release, weight = demand.release[chosen], demand.weight[chosen]
    place = np.searchsorted(tables.edges, release + demand.height[chosen], side="right") - 1
    place = np.clip(place, start, tables.cells)
    least = np.append(np.minimum.accumulate(tables.prices[-2::-1])[::-1], 0.0)[start]
    floor = demand.area[chosen] * least
    best, end = np.full(len(chosen), np.inf), place.copy()
    how: Array | None = None
    active = np.arange(len(chosen))
    while len(active):
        block = max(1, _BLOCK // len(active))
        cells = np.minimum(place[active, None] + np.arange(block), tables.cells).ravel()
        cost, parts = jobs.cost(tables, np.repeat(active, block), cells)
        least_of = np.arange(len(active)) * block + cost.reshape(-1, block).argmin(axis=1)
        better = least_of[cost[least_of] < best[active]]
        improved = active[cost[least_of] < best[active]]
        how = np.zeros((len(chosen), *parts.shape[1:]), dtype=parts.dtype) if how is None else how
        best[improved], end[improved], how[improved] = cost[better], cells[better], parts[better]
        place[active] += block
        active = active[place[active] <= tables.cells]
        waiting = weight[active] * (tables.edges[place[active]] - release[active])
        endless = weight[active] * (tables.edges[tables.cells] - release[active])
        active = active[(waiting + floor[active] < best[active]) | (endless < best[active])]
    return best, end, np.zeros(len(chosen)) if how is None else how
