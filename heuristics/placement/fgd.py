"""FGD: the fragmentation gradient descent heuristic."""

import numpy as np

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import WHOLE_GPU, Placement, PlacementSolution
from heuristics.placement.fragmentation import TypicalWorkers
from heuristics.placement.serving import FREE_GPU, LEVELS, NO_PART, Integers, Need, Scores, ServersLeft, serve


@heuristic
def fgd(
    problem: Placement,
    *,
    typical: Placement | None = None,
    popular: float = 1.0,
    rounded: bool = False,
    budget: Budget = UNLIMITED,
) -> PlacementSolution | NoSolution:
    """Place workers in the order given by the problem, each where it increases fragmentation the least.

    The fragmentation of a server is the expected free GPU capacity that a random worker of the workload cannot
    use. If the worker needs no GPUs, or the server has no room for it, this is the whole free capacity.
    Otherwise, it is the free capacity of those GPUs that have too little left for the worker. As in the paper,
    memory does not count. Ties go to the first server and, on it, to a GPU that is already shared.

    Complexity per worker: O(servers), plus O(K G^2) for each server with G GPUs that has changed since the last
    worker with the same need, for K kinds of workers.

    Source: Weng et al., "Beware of fragmentation" (ATC 2023), section 4 and algorithm 1. The paper does not say
    how ties are broken. To follow the authors' program, set ``rounded=True`` and ``popular=0.95``.

    Parameters
    ----------
    problem
        The problem.
    typical
        Problem whose workers represent the workload; by default, the problem itself.
    popular
        Share of the typical workers that the most frequent kinds have to cover. Other kinds are ignored.
    rounded
        Whether the growth of fragmentation is mapped to 100 levels with a sigmoid, and rounded down.
    budget
        Time limit.

    Raises
    ------
    InvalidInput
        `popular` is not above 0 and at most 1.

    Examples
    --------
    >>> import gsopt
    >>> fgd(gsopt.load("placement/small/six-items")).objective
    4
    """
    require(0 < popular <= 1, "popular", popular, "must be above 0 and at most 1")
    workload = TypicalWorkers.of(problem if typical is None else typical, most=popular)

    def rule(left: ServersLeft, need: Need, servers: Integers) -> tuple[Scores, Integers]:
        before = _useless(workload, left, servers)
        if not need.part:
            return _score(_useless(workload, left, servers, need) - before), np.full(servers.size, NO_PART)
        roomy = np.column_stack([left.shared[servers] >= need.part, left.free[0, servers] > 0])
        number, gpu = np.nonzero(roomy)
        growth = np.full(roomy.shape, np.iinfo(np.int64).max)
        growth[number, gpu] = _useless(workload, left, servers[number], need, gpu) - before[number]
        scores = _score(growth)
        best = scores.argmin(axis=1)
        gpus = np.where(best < left.shared.shape[1], best, FREE_GPU)
        return scores[np.arange(servers.size), best], gpus

    def _score(growth: Integers) -> Scores:
        if not rounded:
            return growth
        gpus = growth / (max(workload.total, 1) * WHOLE_GPU)
        return -np.floor(LEVELS / (1 + np.exp(np.minimum(gpus, LEVELS))))

    return serve(problem, rule, budget=budget)


def _useless(
    workload: TypicalWorkers,
    left: ServersLeft,
    servers: Integers,
    need: Need | None = None,
    gpus: Integers | None = None,
) -> Integers:
    """Return the fragmentation of the given servers, before or after a worker is placed on each.

    With `need`, the worker has been placed. `gpus` are the GPUs of which it gets a part; an index after the
    last shared GPU stands for a free one.
    """
    free, cpus, shared = left.free[0, servers], left.free[1, servers], left.shared[servers]
    if need is not None:
        free, cpus = free - need.amounts[0], cpus - need.amounts[1]
    if need is not None and gpus is not None:
        fresh = gpus == shared.shape[1]
        free = free - fresh
        shared = np.column_stack([shared, np.where(fresh, WHOLE_GPU, 0)])
        shared[np.arange(servers.size), gpus] -= need.part
    return workload.useless(cpus, free, shared, left.gpu_types[servers])
