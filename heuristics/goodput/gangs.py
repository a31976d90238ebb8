"""Gangs: start waiting jobs that need several GPUs at once and that no change of a single cell can start."""

import numpy as np

from heuristics.goodput.table import Counts, SpeedupTable


def with_gangs(table: SpeedupTable) -> Counts:
    """Return the current GPUs of jobs, after starting jobs that need more than one GPU on idle GPUs.

    Jobs start in the order of the list, on the fewest GPUs and nodes on which they can run: on the node that
    fits best, or on the emptiest nodes.
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
    """Find idle GPUs on a number of nodes.

    The result is None if there are too few of them, or if `gpus` is 0.
    """
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
