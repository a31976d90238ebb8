"""Hull: the lower convex hull of the trade-off curve, by parametric minimum cuts."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.reclaiming.reduction import Reduction
from formulations.reclaiming.shares import CostShares, ReductionCosts, equal_shares
from gsopt.core.budget import Budget

#: Seconds that a maximum flow takes for each of its arcs, generously.
_SECONDS = 1e-5


class Corner(NamedTuple):
    """A set of merged jobs and all the servers that it vacates."""

    servers: int  # how many servers there are
    cost: int  # what the jobs and these servers cost
    jobs: NDArray[np.bool_]  # which jobs, shape (jobs,)


@dataclass(frozen=True, eq=False)
class Hull:
    """The lower convex hull of the trade-off curve at the demand."""

    shares: CostShares  # shares that prove it
    # below, above: the corners of the hull on both sides of the demand; the jobs of the one are among those
    # of the other
    below: Corner
    above: Corner
    # whether time was enough. Else the shares prove less, and the hull lies below the line between the two
    # corners
    finished: bool

    @property
    def rest(self) -> Reduction:
        """What is left to decide between the two corners."""
        return self.shares.costs.reduction.restricted(
            preempted=np.flatnonzero(self.below.jobs).tolist(), spared=np.flatnonzero(~self.above.jobs).tolist()
        )

    @property
    def straight(self) -> float:
        """The part of all servers over which the hull is a straight line, and a bound by nature weak."""
        return (self.above.servers - self.below.servers) / max(self.shares.costs.reduction.servers, 1)


def hull(reduction: Reduction, budget: Budget) -> Hull:
    """Find the shares of the best bound, which is the lower convex hull of the trade-off curve at the demand.

    For a price per server a set of servers is worth the price of each less what it costs. The set that is
    worth most is one side of a minimum cut: the source feeds each group with the price less its own cost, the
    group feeds its merged jobs without limit, and each job drains what it weighs. The flow of the same network
    is a division of the jobs' costs among their servers, and the bound of these shares is the line that
    touches the curve from below with the price as its slope.

    The price is found by Newton's method: begin with nothing and everything, ask at the slope of the line
    between the two; a set that lies below the line replaces the one on its side of the demand. When none does,
    the line is the hull. Complexity: a maximum flow for each corner tried, at most one per corner of the hull.

    The hull is also the value of the linear relaxation of `formulations.reclaiming.reduced`, whose rows are
    totally unimodular but for the one that counts servers. All numbers are integers here, so it is exact.

    Source: Eisner and Severance, Mathematical techniques for efficient record segmentation in large shared
    databases, Journal of the ACM 23 (1976), for the search of slopes; Picard, Maximal closure of a graph and
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
    """Ask for the best set at the slope of the line between the corners."""
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
