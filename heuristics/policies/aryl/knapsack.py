"""Knapsack: an exact algorithm for knapsack problems with several machines and sizes that divide each other."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: One size: its items, the order of everything offered (bundles, then items) by gain, and the number of chunks.
Level = tuple[Counts, Counts, int]


def divide_each_other(sizes: Sequence[int]) -> bool:
    """Check whether each of the sizes, given in ascending order, divides the next."""
    return all(larger % smaller == 0 for smaller, larger in pairwise(sizes))


def choose(sizes: Counts, gains: Floats, rooms: Counts) -> Mask:
    """Choose items with the largest total gain that fit on the machines, each on a single machine.

    Every machine is divided into chunks of the given sizes, largest first. From the smallest size up, the
    chunks of each size take the best items and bundles of that size. All others of that size are combined, in
    descending order of gain, into bundles of the next size. This is exact because the sizes divide each other.
    Among items of equal size and gain, the first ones are chosen. Items without gain are not chosen.

    Source: gsopt's own; like `formulations.allocation.bundling`, but for several machines.

    Complexity: O(I log I + M D) for I items, M machines and D sizes.
    """
    chosen = np.zeros(sizes.size, dtype=np.bool_)
    useful = np.flatnonzero(gains > 0)
    if useful.size:
        chosen[useful] = _best(sizes[useful], gains[useful], rooms)
    return chosen


def _best(sizes: Counts, gains: Floats, rooms: Counts) -> Mask:
    kinds: list[int] = np.unique(sizes).tolist()
    chunks = _chunks(kinds, rooms)
    levels: list[Level] = []
    bundles = gains[:0]
    for size, larger in pairwise([*kinds, 0]):
        own = np.flatnonzero(sizes == size)
        offered = np.concatenate((bundles, gains[own]))
        order = np.argsort(-offered, kind="stable")
        single = chunks[size]
        levels.append((own, order, single))
        rest = offered[order[single:]]
        width = larger // size if larger else max(rest.size, 1)
        bundles = np.append(rest, np.zeros(-rest.size % width)).reshape(-1, width).sum(axis=1)
    return _untied(levels, kinds, sizes.size)


def _untied(levels: Sequence[Level], kinds: Sequence[int], number: int) -> Mask:
    """Return which items are taken, found by untying bundles from the largest size down."""
    chosen = np.zeros(number, dtype=np.bool_)
    above: Mask = np.zeros(1, dtype=np.bool_)  # whether each bundle of the level above was taken
    for (own, order, single), (size, larger) in reversed(list(zip(levels, pairwise([*kinds, 0]), strict=True))):
        taken = np.ones(order.size, dtype=np.bool_)
        width = larger // size if larger else max(order.size - single, 1)
        taken[order[single:]] = np.repeat(above, width)[: max(order.size - single, 0)]
        chosen[own] = taken[order.size - own.size :]
        above = taken[: order.size - own.size]
    return chosen


def _chunks(kinds: Sequence[int], rooms: Counts) -> dict[int, int]:
    """Return the number of chunks of each size, where machines are divided into the largest sizes first."""
    chunks: dict[int, int] = {}
    for size in reversed(kinds):
        chunks[size] = int((rooms // size).sum())
        rooms = rooms % size
    return chunks


def left_over(rooms: Counts, sizes: Counts) -> Counts:
    """Return how many GPUs are left on each machine after placing items by best fit, largest items first."""
    rooms = rooms.copy()
    kinds, counts = np.unique(sizes, return_counts=True)
    for size, number in zip(kinds[::-1].tolist(), counts[::-1].tolist(), strict=True):
        order = np.argsort(rooms, kind="stable")
        holds = rooms[order] // size
        before = np.cumsum(holds) - holds
        rooms[order] -= size * np.clip(number - before, 0, holds)
    return rooms
