"""Selection: take servers in the order of their preemption cost, with or without updating the costs."""

from heapq import heapify, heappop, heappush
from random import Random
from typing import Literal

from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.options import choose
from heuristics.reclaiming.preemption_cost import JobShares

#: Which of several servers of equal cost is taken: the first of the instance, a random one, or the one that
#: hosts the fewest or the most jobs (then the first).
Tie = Literal["index", "random", "fewest_jobs", "most_jobs"]

_COUNT_SIGN = {"index": 0, "random": 0, "fewest_jobs": 1, "most_jobs": -1}


def cheapest_first(hosting: Hosting, shares: JobShares, demand: int, *, tie: Tie, seed: int) -> list[int]:
    """Take the cheapest server again and again; each time its jobs go, which makes their other servers cheaper.

    A heap with lazy updates: a changed key is pushed anew, and the old one is passed over when it comes up.
    O(S log S + H log H) for S servers and H pairs of a job and a server that hosts it.

    Parameters
    ----------
    hosting
        Which jobs stand on which servers.
    shares
        What each job contributes to the cost of its servers.
    demand
        Number of servers to take.
    tie
        How ties are broken.
    seed
        Seed of the random ties.

    Returns
    -------
    list of int
        Servers in the order taken.
    """
    sign = choose("tie", tie, _COUNT_SIGN)
    order = _tie_order(hosting, tie, seed)
    keys = _keys(hosting, shares, sign, order)
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
    """Take the servers that are cheapest before any is returned; costs are not updated.

    Parameters and result are those of `cheapest_first`.
    """
    order = _tie_order(hosting, tie, seed)
    keys = _keys(hosting, shares, choose("tie", tie, _COUNT_SIGN), order)
    return sorted(range(len(keys)), key=keys.__getitem__)[:demand]


def _tie_order(hosting: Hosting, tie: Tie, seed: int) -> list[int]:
    order = list(range(len(hosting.names)))
    if tie == "random":
        Random(seed).shuffle(order)
    return order


def _keys(hosting: Hosting, shares: JobShares, sign: int, order: list[int]) -> list[tuple[int, int, int]]:
    """Return what each server is compared by: cost, signed number of jobs, rank in the tie order."""
    rank = [0] * len(order)
    for place, server in enumerate(order):
        rank[server] = place
    counts = [sign * len(jobs) for jobs in hosting.jobs_of]
    return list(zip(shares.totals(hosting), counts, rank, strict=True))
