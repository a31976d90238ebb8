"""Gangs: a function that starts waiting jobs that need several GPUs at once."""

import numpy as np

from heuristics.goodput.table import Counts, SpeedupTable


def with_gangs(table: SpeedupTable) -> Counts:
    """Start, on idle GPUs, waiting jobs that need more than one GPU, and return the GPUs of all jobs.

    Jobs start in the order in which they are listed, on as few nodes as have room for them, and there on the
    fewest GPUs with which they can run. A single node is chosen by best fit. If several nodes are necessary,
    those with the most idle GPUs are chosen, except nodes that another job on several nodes uses. Jobs for
    which there is no room keep waiting.
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
    """Find idle GPUs on exactly the given number of nodes.

    Return None if too few GPUs are idle, or if `gpus` is 0.
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
