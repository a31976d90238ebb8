"""At once: a quick choice of servers and a quick bound, which exist for every variant of the problem."""

from math import ceil

from formulations.reclaiming.growth import greedy_counts
from formulations.reclaiming.reduction import reduce, strict
from formulations.reclaiming.shares import ReductionCosts, equal_shares
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution

#: Seconds after which the greedy choice is completed with the cheapest servers.
_MOMENT = 0.25


def at_once(problem: Reclaiming) -> tuple[ReclaimingSolution, Exact]:
    """Return a greedy choice that assumes that every base worker is needed, and the bound of equal shares.

    The bound divides each job's cost equally among its servers (`formulations.reclaiming.shares.equal_shares`).
    It assumes that a job survives the joint loss of any servers whose individual loss it survives.
    """
    less, more = reduce(problem, optimistic=True).net(), reduce(strict(problem)).net()
    bound = less.number(ceil(equal_shares(ReductionCosts.of(less)).bound))
    return more.lift(greedy_counts(more, Budget(time_limit=_MOMENT)), problem), bound
