"""Hull: the lower convex hull of the minimum cost by number of servers, found by parametric minimum cuts."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.reclaiming.reduction import Reduction
from formulations.reclaiming.shares import CostShares, ReductionCosts, equal_shares
from gsopt.core.budget import Budget

#: Generous estimate of the time that a maximum flow takes per arc, in seconds.
_SECONDS = 1e-5


class Corner(NamedTuple):
    """A corner of the hull: a set of merged jobs, and all the servers that their preemption vacates."""

    servers: int  # number of vacated servers
    cost: int  # cost of the jobs and of these servers
    jobs: NDArray[np.bool_]  # which jobs, shape (jobs,)


@dataclass(frozen=True, eq=False)
class Hull:
    """The lower convex hull of the minimum cost by number of returned servers, around the demand."""

    shares: CostShares  # cost shares that prove the hull
    # below, above: the corners of the hull on both sides of the demand; the jobs of `below` are among those
    # of `above`
    below: Corner
    above: Corner
    # whether there was enough time; otherwise, the shares prove less, and the hull lies below the line
    # between the two corners
    finished: bool

    @property
    def rest(self) -> Reduction:
        """The problem with the jobs of `below` preempted and those that are not in `above` spared."""
        return self.shares.costs.reduction.restricted(
            preempted=np.flatnonzero(self.below.jobs).tolist(), spared=np.flatnonzero(~self.above.jobs).tolist()
        )

    @property
    def straight(self) -> float:
        """The fraction of all servers over which the hull is a straight line; if large, the bound is weak."""
        return (self.above.servers - self.below.servers) / max(self.shares.costs.reduction.servers, 1)


def hull(reduction: Reduction, budget: Budget) -> Hull:
    """Find the cost shares with the best bound: the lower convex hull of the trade-off curve at the demand.

    The trade-off curve is the minimum cost by number of returned servers. At a given price per server, the
    profit of a set of servers is their total price minus the cost of the set. The most profitable set is one
    side of a minimum cut. In the network, the source feeds each group with the price minus the group's own
    cost, a group feeds its merged jobs without limit, and each job drains its weight. A flow also divides the
    jobs' costs among their servers. The bound of these shares is the line that has the price as its slope and
    touches the curve from below.

    The price is found by Newton's method. It starts with the empty and the full set, and prices servers at the
    slope of the line between the two. If the most profitable set lies below the line, it replaces the set on
    its side of the demand. Otherwise, the line is the hull there. If time runs out, the best shares found so
    far are returned. Complexity: at most one maximum flow per corner of the hull.

    The hull is also the value of the linear relaxation of `formulations.reclaiming.reduced`, whose rows are
    totally unimodular except for the one that counts servers. All numbers are integers, so the hull is exact.

    Source: Eisner and Severance, Mathematical techniques for efficient record segmentation in large shared
    databases, Journal of the ACM 23 (1976), for the search for slopes; Picard, Maximal closure of a graph and
    applications to combinatorial problems, Management Science 22 (1976), for the cut.
    """
    costs = ReductionCosts.of(reduction)
    network = costs.network
    needed = network.inflow(costs.sizes[network.source]) > 0
    nothing = _corner(costs, np.zeros(costs.sizes.size, dtype=np.bool_), np.zeros_like(needed))
    everything = _corner(costs, np.ones(costs.sizes.size, dtype=np.bool_), needed)
    found = Hull(equal_shares(costs), nothing, everything, finished=reduction.demand == 0)
    arcs = network.source.size + costs.sizes.size + costs.weights.size
    while not found.finished:
        left = budget.left()
        if left is not None and left < _SECONDS * arcs:
            break
        found = _improve(found)
    return found


def _improve(found: Hull) -> Hull:
    """Replace a corner with the best set at the slope of the line between the corners, or finish."""
    costs, below, above = found.shares.costs, found.below, found.above
    parts, price = above.servers - below.servers, above.cost - below.cost
    supply = np.maximum(costs.sizes * (price - costs.own * parts), 0)
    flow = costs.network.maximum_flow(supply, costs.weights * parts)
    shares = max(found.shares, CostShares(costs, parts, flow, price), key=lambda proof: proof.bound)
    corner = _corner(costs, *costs.network.reached(supply, flow))
    if price * (corner.servers - below.servers) <= parts * (corner.cost - below.cost):
        return Hull(shares, below, above, finished=True)
    if corner.servers <= costs.reduction.demand:
        return Hull(shares, corner, above, finished=corner.servers == costs.reduction.demand)
    return Hull(shares, below, corner, finished=False)


def _corner(costs: ReductionCosts, groups: NDArray[np.bool_], jobs: NDArray[np.bool_]) -> Corner:
    own = int((costs.sizes * costs.own)[groups].sum())
    return Corner(int(costs.sizes[groups].sum()), own + int(costs.weights[jobs].sum()), jobs)
