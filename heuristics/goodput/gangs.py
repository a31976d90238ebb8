"""Gangs: waiting jobs that need several GPUs at once, which no change of one cell starts."""

import numpy as np

from heuristics.goodput.table import Counts, SpeedupTable


def with_gangs(table: SpeedupTable) -> Counts:
    """Return what jobs have now and, in the order of the list, start on idle GPUs those that one GPU does not.

    Each gets its fewest GPUs, on the fewest nodes and, of these, on one that it fills best or on the emptiest.
    """
    vectors = table.current.copy()
    waiting = np.flatnonzero(~vectors.any(axis=1))
    for job in waiting[table.speedups[waiting, 1, 1] <= 0]:
        for nodes, speedups in enumerate(table.speedups[job]):
            found = _room(table, vectors, nodes, int((speedups > 0).argmax()))
            if found is not None:
                vectors[job] = found
                break
    return vectors


def _room(table: SpeedupTable, vectors: Counts, nodes: int, gpus: int) -> Counts | None:
    """Find so many idle GPUs on so many nodes; None where there are too few, or none are asked for."""
    free = np.array(table.problem.nodes, dtype=np.int64) - vectors.sum(axis=0)
    if nodes == 1:
        order = np.argsort(np.where(free >= gpus, free, free.max() + 1), kind="stable")
    else:
        wide = vectors[(vectors > 0).sum(axis=1) > 1].any(axis=0)
        free = np.where(wide, 0, free)
        order = np.argsort(-free, kind="stable")
    chosen = order[:nodes]
    if not gpus or free[chosen].min() < 1 or free[chosen].sum() < gpus:
        return None
    found: Counts = np.zeros_like(free)
    found[chosen] = 1
    for node in chosen:
        found[node] += min(free[node] - 1, gpus - found.sum())
    return found
