"""Layers: array functions that extend many fillings of one server by the workers of one demand."""

import numpy as np

from formulations.placement.packing import Integers


def fitting(free: Integers, need: Integers, most: int) -> Integers:
    """Return how many workers of one demand fit into each filling, but at most `most`."""
    holds = np.full(free.shape[1], most, dtype=np.int64)
    for amounts, amount in zip(free, need.tolist(), strict=True):
        if amount:
            np.minimum(holds, amounts // amount, out=holds)
    return holds


def extend(free: Integers, need: Integers, holds: Integers) -> tuple[Integers, Integers, Integers]:
    """Extend each filling by every possible number of workers of one demand, in descending order.

    `holds` is the number of workers that fit into each filling. Return, for each extended filling, the index of
    the original filling, the number of workers added, and the free amounts, shape (resources, extended
    fillings).
    """
    parents = np.repeat(np.arange(holds.size), holds + 1)
    last = np.cumsum(holds + 1) - 1
    numbers = last[parents] - np.arange(parents.size)
    return parents, numbers, free[:, parents] - need[:, np.newaxis] * numbers
