"""Maximal patterns: every way to fill a server to which no further worker could be added."""

import numpy as np

from formulations.placement.packing import Integers, Packing, Patterns
from gsopt.problems.placement import Vector

#: Fillings looked at for each maximal one that is allowed, before the enumeration gives up.
_EFFORT = 20

#: More demands than this on one server are not enumerated at all.
_MOST_DEMANDS = 200


def maximal_patterns(packing: Packing, *, limit: int) -> Patterns | None:
    """Enumerate the maximal patterns of every zone and kind; None when that takes more than a limit.

    A pattern holds at most as many workers of a demand as there are. It is maximal when no worker that it lacks
    would fit. The search goes depth first over the demands, those that fill most of the server first.

    Parameters
    ----------
    packing
        The packing.
    limit
        Number of patterns.

    Examples
    --------
    >>> from gsopt.problems.placement import Placement, Resources, Server, Workers
    >>> problem = Placement(
    ...     servers=[Server(name="s", count=9, capacity=Resources(gpu=8))],
    ...     workers=[Workers(job=str(gpu), count=9, demand=Resources(gpu=gpu)) for gpu in (4, 3)],
    ... )
    >>> maximal_patterns(Packing.of(problem), limit=10).counts.tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    effort = _EFFORT * limit
    found: list[tuple[int, int, Integers]] = []
    for z, zone in enumerate(packing.zones):
        for k in zone.kinds:
            room = packing.rooms[k]
            fitting = [i for i in zone.demands if (packing.demands[i] <= room).all()]
            share = (packing.demands[fitting] / np.maximum(room, 1)).max(axis=1, initial=0.0)
            order = [fitting[position] for position in np.argsort(-share, kind="stable")]
            vectors = [tuple(packing.demands[i].tolist()) for i in order]
            most = packing.totals[order].tolist()
            fillings = _fillings(vectors, most, tuple(room.tolist()), limit - len(found), effort)
            if fillings is None:
                return None
            for filling in fillings:
                counts = np.zeros(len(packing.demands), dtype=np.int64)
                counts[order] = filling
                found.append((z, k, counts))
    return Patterns.of(found, len(packing.demands))


def _fillings(
    vectors: list[Vector], most: list[int], room: Vector, limit: int, effort: int
) -> list[tuple[int, ...]] | None:
    """Enumerate the maximal fillings of one server; None when there are too many to look at."""
    if len(vectors) > _MOST_DEMANDS:
        return None
    last = len(vectors) - 1
    counts = [0] * len(vectors)
    found: list[tuple[int, ...]] = []
    looked_at = 0

    def is_maximal(gpu: int, cpu: int, memory: int) -> bool:
        return not any(
            counts[i] < most[i] and g <= gpu and c <= cpu and m <= memory for i, (g, c, m) in enumerate(vectors)
        )

    def fill(position: int, gpu: int, cpu: int, memory: int) -> bool:
        """Fill from a demand on; False when the limit is reached."""
        nonlocal looked_at
        if position > last:
            looked_at += 1
            if is_maximal(gpu, cpu, memory):
                found.append(tuple(counts))
            return len(found) <= limit and looked_at <= effort
        g, c, m = vectors[position]
        fits = min(most[position], *(free // need for free, need in ((gpu, g), (cpu, c), (memory, m)) if need))
        fewest = fits if position == last else 0  # less of the last demand leaves room for more of it
        for count in range(fits, fewest - 1, -1):
            counts[position] = count
            if not fill(position + 1, gpu - count * g, cpu - count * c, memory - count * m):
                return False
        counts[position] = 0
        return True

    return found if fill(0, *room) else None
