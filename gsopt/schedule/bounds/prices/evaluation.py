"""Evaluation: what completing every job costs at given prices, and what it then holds."""

from dataclasses import dataclass

import numpy as np

from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.vectors import evaluate_vectors


@dataclass(frozen=True, eq=False)
class PriceEvaluation:
    """The least that each job costs: its weighted job completion time and the GPU-seconds that it pays.

    Attributes
    ----------
    values
        That cost, by job.
    slopes
        What a further second of work would cost the job.
    sizes
        Sum of the largest numbers that went into each value, for the error of rounding.
    usage
        GPU-seconds that the jobs hold, by kind of job and cell.
    """

    values: Array
    slopes: Array
    sizes: Array
    usage: Array


def load_kernel() -> None:
    """Load the compiled kernel, and compile it where that has not been done yet."""
    one, zero = np.ones(1), np.zeros(1)
    whole = np.zeros(1, dtype=np.int64)
    job = Demand(
        unit=1,
        release=zero,
        work=one,
        weight=one,
        slip=zero,
        kind=whole,
        first=np.array([0, 1], dtype=np.int64),
        gpus=one,
        speed=one,
    )
    evaluate(job, np.array([0.0, 2.0]), np.zeros((1, 1)), compiled=True)


def evaluate(demand: Demand, edges: Array, prices: Array, *, compiled: bool) -> PriceEvaluation:
    """Let every job buy the GPU-seconds that complete it at the least cost.

    A job pays its weight times the seconds from its release date to its completion, and the price of its cell
    for each GPU-second that it holds before. Given the cell in which it completes, that is a fractional
    knapsack: running on a segment of its hull for the length of a cell is an item, and in the last cell each
    second of running delays the completion by one. The least over all cells is exact, since prices are constant
    in each.

    Parameters
    ----------
    demand
        The jobs.
    edges
        Edges of the cells, the first one at 0; beyond the last one GPUs are free.
    prices
        What a GPU-second costs, by kind of job and cell; at least 0.
    compiled
        Whether to use the compiled kernel, else numpy. They differ by rounding.
    """
    jobs = len(demand)
    found = PriceEvaluation(np.empty(jobs), np.empty(jobs), np.empty(jobs), np.zeros((len(prices), len(edges))))
    whole = np.append(edges, np.inf)
    free = np.append(prices, np.zeros((len(prices), 1)), axis=1)
    results = (found.values, found.slopes, found.sizes, found.usage)
    if not compiled:
        evaluate_vectors(demand, whole, free, *results)
        return found
    from gsopt.schedule.bounds.prices.kernel import evaluate_jobs

    start = np.searchsorted(whole, demand.release, side="right") - 1
    given = (demand.release, demand.work, demand.weight, demand.kind, demand.first, demand.gpus, demand.speed)
    evaluate_jobs(whole, free, start, *given, *results)
    return found
