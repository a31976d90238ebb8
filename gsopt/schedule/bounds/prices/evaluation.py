"""Evaluation: the minimum cost of completing each job at given prices, and the GPU time that this uses."""

from dataclasses import dataclass

import numpy as np

from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.vectors import evaluate_vectors


@dataclass(frozen=True, eq=False)
class PriceEvaluation:
    """The minimum costs of jobs: weighted job completion times plus the price of the GPU time used.

    Times are in the unit of `Demand`.

    Attributes
    ----------
    values
        Minimum costs, one per job.
    slopes
        Costs of one more unit of work, one per job.
    sizes
        For each job, an upper limit on the sum of the magnitudes of the terms in its value, which bounds the
        rounding error of the value.
    usage
        GPU time that the jobs use, with one row per kind of job and one column per cell, plus a last column
        for the time after the last edge.
    """

    values: Array
    slopes: Array
    sizes: Array
    usage: Array


def load_kernel() -> None:
    """Load the compiled kernel. It is compiled first if necessary."""
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
    """Compute the minimum cost of completing each job, and the GPU time that this uses.

    Times are in the unit of `demand`. The cost of a job is its weight times the time from release to
    completion, plus the price of the GPU time that it uses. Given the cell in which the job completes, the
    minimum is that of a fractional knapsack problem. Each item is a run on one segment of the job's hull for
    the length of one cell. In the cell of completion, running also delays the completion. The minimum over all
    cells is exact, because prices are constant in each cell.

    Parameters
    ----------
    demand
        The jobs.
    edges
        The edges of the cells. The first edge is at 0. After the last edge, GPUs cost nothing.
    prices
        The price of a GPU per unit of time, at least 0, with one row per kind of job and one column per cell.
    compiled
        Whether to use the compiled kernel instead of numpy. The results differ only by rounding.
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
