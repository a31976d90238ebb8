"""Grid: time cells in which the price of a GPU-second is constant."""

import numpy as np

from gsopt.core.numbers.tolerances import SHORTEST_CELL
from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.supply import GpuSupply


def first_edges(
    demand: Demand,
    supply: GpuSupply,
    cells: int,
    areas: Array | None = None,
    completion: Array | None = None,
) -> Array:
    """Divide time, up to about the end of all jobs, into cells that are shorter where jobs come and go.

    Half of the edges are equally spaced. The other half divide the release dates and earliest completion
    times of the jobs into groups of equal size. After the last edge, GPUs cost nothing. Jobs are assumed to
    need their minimum areas unless other areas are given.

    If completion times are given, the grid extends at least to the last of them, and further edges, half as
    many as `cells`, divide them into groups of equal size.
    """
    ends = demand.release + demand.height
    queue = _longest_queue(demand, supply, demand.area if areas is None else areas)
    end = max(float(ends.max()), float(demand.release[-1]) + queue)
    if completion is not None:
        end = max(end, float(completion.max()))
    even = np.linspace(0.0, end, cells // 2 + 1)
    dense = np.quantile(np.concatenate([demand.release, ends]), np.linspace(0.0, 1.0, cells - cells // 2 + 1))
    edges = np.unique(np.concatenate([even, dense]))
    if completion is not None:
        edges = np.union1d(edges, np.quantile(completion, np.linspace(0.0, 1.0, cells // 2 + 1)))
    long_enough = np.append(True, np.diff(edges) > SHORTEST_CELL * end)
    return np.append(edges[:-1][long_enough[:-1]], end)


def _longest_queue(demand: Demand, supply: GpuSupply, areas: Array) -> float:
    """Return the time that all work takes on the whole cluster or on one GPU type, whichever is longer.

    The result includes the time until the last change of the supply, before which no work counts as done.
    """
    held = [areas.sum(), *(areas[demand.kind == row].sum() for row in range(1, supply.rows))]
    return float(supply.times[-1] + max(held / np.maximum(supply.gpus[:, -1], 1.0)))


def split(edges: Array, prices: Array, cells: int) -> tuple[Array, Array]:
    """Halve the cells with the largest product of length and price changes at both edges. Prices stay the same.

    Parameters
    ----------
    edges, prices
        The edges of the cells, and the prices in them by row.
    cells
        The largest number of cells after the split. No cell is halved more than once.
    """
    lengths = np.diff(edges)
    levels = np.concatenate([prices[:, :1], prices, np.zeros((len(prices), 1))], axis=1)
    jumps = np.abs(np.diff(levels, axis=1)).sum(axis=0)
    gains = np.where(lengths > SHORTEST_CELL * edges[-1], (jumps[1:] + jumps[:-1]) * lengths, 0.0)
    wanted = np.argsort(-gains, kind="stable")[: max(cells - len(lengths), 0)]
    chosen = np.sort(wanted[gains[wanted] > 0])
    middles = (edges[chosen] + edges[chosen + 1]) / 2
    counts = np.ones(len(lengths), dtype=np.int64)
    counts[chosen] += 1
    return np.sort(np.concatenate([edges, middles])), np.repeat(prices, counts, axis=1)
