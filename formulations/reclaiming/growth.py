"""Growth: a quick greedy choice of servers."""

import numpy as np

from formulations.reclaiming.choice import MergedHosting
from formulations.reclaiming.reduction import Reduction
from gsopt.core.budget import Budget

#: Powers of a job's number of servers by which its weight is divided: 1, as in Aryl's Algorithm 1, and 0.5,
#: which works better if jobs have similar weights.
_POWERS = (0.5, 1.0)


def greedy_counts(reduction: Reduction, budget: Budget) -> list[int]:
    """Choose servers greedily, always the one with the lowest own cost plus shares in its jobs' costs.

    The share of a server in a job's cost is the job's weight divided by a power of the job's number of servers,
    or of the demand if that is smaller. Jobs already preempted no longer count. The better result of two
    powers, 1 and 1/2, is kept. If the time limit is reached, the choice is completed with the cheapest servers.

    Complexity: O(N S + P) for a demand of N of S servers and P pairs of a server and a merged job.

    Source: Aryl, Appendix B, Algorithm 1, for the power of 1.
    """
    hosting = MergedHosting.of(reduction)
    choices = (_grow(hosting, reduction.demand, power, budget) for power in _POWERS)
    return min((hosting.counts(servers) for servers in choices), key=reduction.value)


def _grow(hosting: MergedHosting, demand: int, power: float, budget: Budget) -> list[int]:
    shares = [
        weight / max(1, min(servers.size, demand)) ** power
        for weight, servers in zip(hosting.weights, hosting.servers_of, strict=True)
    ]
    price = hosting.own.copy()
    for servers, share in zip(hosting.servers_of, shares, strict=True):
        price[servers] += share
    preempted = [False] * len(shares)
    taken: list[int] = []
    while len(taken) < demand:
        if budget.passed:
            return [*taken, *np.argsort(price)[: demand - len(taken)].tolist()]
        server = int(price.argmin())
        taken.append(server)
        price[server] = np.inf
        for job in hosting.jobs_of[server]:
            if not preempted[job]:
                preempted[job] = True
                price[hosting.servers_of[job]] -= shares[job]
    return taken
