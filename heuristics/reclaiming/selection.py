"""Selection: servers in ascending order of preemption cost, with or without updates of the costs."""

from heapq import heapify, heappop, heappush
from random import Random
from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.preemption_cost import JobShares

#: Which of several servers of equal cost is taken: the first in the instance, a random one, or the one that
#: hosts the fewest or the most jobs (further ties go to the first).
Tie = Literal["index", "random", "fewest_jobs", "most_jobs"]

_COUNT_SIGN = {"index": 0, "random": 0, "fewest_jobs": 1, "most_jobs": -1}


def cheapest_first(hosting: Hosting, shares: JobShares, demand: int, *, tie: Tie, seed: int) -> list[int]:
    """Take the cheapest server `demand` times, updating the costs after each, and return the servers.

    Complexity: O(S log S + H log H) for S servers and H pairs of a job and one of its servers.
    """
    order, keys = _keys(hosting, shares, tie, seed)
    sign = _COUNT_SIGN[tie]
    servers_of, jobs_of, share_of = hosting.servers_of, hosting.jobs_of, shares.of
    preempted = [False] * len(servers_of)
    heap = keys.copy()
    heapify(heap)
    taken: list[int] = []
    while len(taken) < demand:
        key = heappop(heap)
        server = order[key[2]]
        if keys[server] != key:
            continue
        taken.append(server)
        for job in jobs_of[server]:
            if preempted[job]:
                continue
            preempted[job] = True
            for other, share in zip(servers_of[job], share_of[job], strict=True):
                cost, count, rank = keys[other]
                changed = (cost - share, count - sign, rank)
                if other != server and changed != keys[other]:
                    keys[other] = changed
                    heappush(heap, changed)
    return taken


def cheapest_at_first(hosting: Hosting, shares: JobShares, demand: int, *, tie: Tie, seed: int) -> list[int]:
    """Return the servers that are cheapest at the start, without updating costs."""
    _, keys = _keys(hosting, shares, tie, seed)
    return sorted(range(len(keys)), key=keys.__getitem__)[:demand]


def _keys(
    hosting: Hosting, shares: JobShares, tie: Tie, seed: int
) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Return the order for ties, and each server's key: cost, signed number of jobs, and rank in that order."""
    require_one_of("tie", tie, get_args(Tie))
    order = list(range(len(hosting.names)))
    if tie == "random":
        Random(seed).shuffle(order)
    rank = [0] * len(order)
    for place, server in enumerate(order):
        rank[server] = place
    counts = [_COUNT_SIGN[tie] * len(jobs) for jobs in hosting.jobs_of]
    return order, list(zip(shares.totals(hosting), counts, rank, strict=True))
