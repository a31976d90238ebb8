"""Growth: a quick choice of servers for when nothing better is at hand."""

import numpy as np
from scipy.sparse import csr_array

from formulations.reclaiming.reduction import Reduction


def grown(reduction: Reduction) -> list[int] | None:
    """Take again and again the group that adds least cost per server; None when there are too few servers.

    Complexity: O(G (G + E)) for G groups of servers that need E merged jobs in all.

    Examples
    --------
    >>> import gsopt
    >>> from formulations.reclaiming.reduction import reduce
    >>> grown(reduce(gsopt.load("reclaiming/aryl-figure-5")))
    [2, 0, 0, 0, 0]
    """
    needed = [group.jobs for group in reduction.groups]
    ends = np.cumsum([0, *map(len, needed)])
    jobs = np.array([job for each in needed for job in each], dtype=np.int64)
    shape = (len(needed), len(reduction.weights))
    needs = csr_array((np.ones(jobs.size), jobs, ends), shape=shape)
    own = np.array([group.cost for group in reduction.groups])
    free = np.array([len(group.servers) for group in reduction.groups])
    unpaid = np.array(reduction.weights)
    counts = np.zeros_like(free)
    missing = reduction.demand
    while missing > 0 and free.any():
        taken = np.minimum(free, missing)
        cost = np.divide(needs @ unpaid, taken, out=np.full(taken.shape, np.inf), where=taken > 0) + own
        best = int(cost.argmin())
        counts[best], free[best] = taken[best], 0
        unpaid[list(needed[best])] = 0.0
        missing -= int(taken[best])
    return None if missing else counts.tolist()
