"""Mixture: the shortest time in which jobs can run in their modes for given times."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from formulations.scheduling.instance import Instance
from gsopt.core.numbers.tolerances import LEAST_TOLERANCE, PRICING

#: A job by number, and the number of one of its modes.
Item = tuple[int, int]

#: Items that run at the same time.
Configuration = tuple[Item, ...]


class Mixture(NamedTuple):
    """The shortest mixture of configurations in which jobs run in their modes for given times."""

    length: float  # how long it takes, in the unit of the times
    # price of a unit of time of each item: the total price of any times is at most the length of every
    # mixture that achieves them; the total price of the given times equals the length, up to rounding
    prices: Mapping[Item, float]


def shortest_mixture(instance: Instance, times: Mapping[Item, float]) -> Mixture:
    """Find the least time in which jobs can run in their modes for given times.

    A configuration holds at most one mode of each job, and its modes fit on the GPUs. The linear program covers
    the times by configurations of least total length, which a multiple-choice knapsack generates. Times are
    positive, in any unit, and missing items count as 0.
    """
    from scipy.optimize import linprog

    items = list(times)
    configurations: list[Configuration] = [(item,) for item in items]
    while items:
        found = linprog(
            np.ones(len(configurations)),
            A_ub=-np.array([[item in each for each in configurations] for item in items], dtype=float),
            b_ub=[-times[item] for item in items],
            method="highs",
            options={
                "primal_feasibility_tolerance": LEAST_TOLERANCE,
                "dual_feasibility_tolerance": LEAST_TOLERANCE,
            },
        )
        if found.fun is None:  # times too different in scale
            break
        prices = dict(zip(items, (max(-float(price), 0.0) for price in found.ineqlin.marginals), strict=True))
        value, best = _dearest(instance, prices)
        if value <= 1 + PRICING or best in configurations:
            return Mixture(float(found.fun), {item: price / max(value, 1.0) for item, price in prices.items()})
        configurations.append(best)
    return Mixture(0.0, {})


def lift_prices(instance: Instance, prices: Mapping[Item, float]) -> dict[Item, float]:
    """Raise each mode's price to at least that of the job's modes on fewer GPUs, which fit wherever it does."""
    raised: dict[Item, float] = {}
    for job in sorted({job for job, _ in prices}):
        price = 0.0
        for mode in range(len(instance.modes[job])):
            price = max(price, prices.get((job, mode), 0.0))
            if price > 0:
                raised[job, mode] = price
    return raised


def _dearest(instance: Instance, prices: Mapping[Item, float]) -> tuple[float, Configuration]:
    """Find the configuration with the highest price by dynamic programming, as a multiple-choice knapsack."""
    best: list[tuple[float, Configuration]] = [(0.0, ())] * (instance.gpus + 1)
    for job in sorted({job for job, _ in prices}):
        before = list(best)
        for mode, (gpus, _) in enumerate(instance.modes[job]):
            price = prices.get((job, mode), 0.0)
            for free in range(gpus, instance.gpus + 1):
                value, chosen = before[free - gpus]
                if value + price > best[free][0]:
                    best[free] = (value + price, (*chosen, (job, mode)))
    return best[-1]
