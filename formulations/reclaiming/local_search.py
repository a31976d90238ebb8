"""Local search: a tabu search for better choices of servers, used when bounds are too weak."""

from collections.abc import Callable
from random import Random

import numpy as np

from formulations.reclaiming.choice import MergedHosting, ServerChoice
from formulations.reclaiming.reduction import Reduction
from gsopt.core.budget import Budget

#: Minimum and maximum number of moves for which a server may not move again.
_TENURE = (3, 10)

#: Number of moves per server without a better choice after which the search ends.
PATIENCE = 20


def tabu_search(
    reduction: Reduction,
    counts: list[int],
    budget: Budget,
    *,
    seed: int = 0,
    patience: float = PATIENCE,
    on_better: Callable[[list[int]], object] = lambda _: None,
) -> list[int]:
    """Improve a choice by tabu search: keep the server that saves most, give back the one that costs least.

    Servers that have just moved stay where they are for a few moves, which lets the search leave a local
    optimum. Ties are broken at random. The start is `counts`, the number of servers given back in each group,
    and the result is the best counts found. The search ends if the time limit is reached, after `patience`
    moves per server without a better choice, or when `on_better`, which is called with each better choice,
    returns True.

    Complexity: O(S + D) per move for S servers, where D is the total number of servers of all merged jobs on
    the two servers moved. With a few hundred servers, the search makes tens of thousands of moves per second.

    Source: Glover and Laguna, Tabu Search (1997), chapter 2.
    """
    hosting = MergedHosting.of(reduction)
    choice = ServerChoice(hosting)
    for server in hosting.first(counts):
        choice.give(server)
    demand, spare = reduction.demand, reduction.servers - reduction.demand
    if not demand or not spare:
        return counts
    random = Random(seed)
    size = choice.returned.size
    noise = np.random.default_rng(seed).random(2 * size) / 2  # below any difference between costs
    free = np.zeros(size, dtype=np.int64)  # the move from which on a server may move again
    best, least, move, last = counts, choice.cost, 0, 0
    while move - last < patience * size and not budget.passed:
        move += 1
        ties = random.randrange(size)
        shown = choice.change + noise[ties : ties + size]
        leaving = int(np.where(choice.returned & (free <= move), shown, -np.inf).argmax())
        choice.keep(leaving)
        free[leaving] = move + _tenure(random, spare)
        shown = choice.change + noise[ties : ties + size]
        coming = int(np.where(choice.returned | (free > move), np.inf, shown).argmin())
        choice.give(coming)
        free[coming] = move + 1 + _tenure(random, demand - 1)
        if choice.cost < least:
            least, last = choice.cost, move
            best = hosting.counts(np.flatnonzero(choice.returned).tolist())
            if on_better(best) is True:
                break
    return min(best, counts, key=reduction.value)


def _tenure(random: Random, most: int) -> int:
    """Draw the number of moves for which a server may not move, leaving at least one server free to move."""
    return random.randint(min(_TENURE[0], most), min(_TENURE[1], most))
