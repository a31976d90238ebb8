"""Shares: the costs of jobs divided among their servers, and the bounds that these shares prove."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from formulations.reclaiming.flow import Integers, Network
from formulations.reclaiming.reduction import Reduction

#: Number of parts, per server, into which a cost of 1 is divided. Equal shares are rounded down to whole parts.
_FINENESS = 64

#: Maximum number of bits of a number in a 64-bit integer, leaving one bit for the sign and one for sums of two.
_BITS = 62


@dataclass(frozen=True, eq=False)
class ReductionCosts:
    """The costs of a reduction as arrays of 64-bit integers or, if those might overflow, of Python integers."""

    reduction: Reduction
    network: Network  # pairs of a group of servers and a merged job that it needs preempted
    weights: Integers  # cost of preempting each merged job, shape (jobs,)
    own: Integers  # cost of giving back one server of each group, shape (groups,)
    sizes: Integers  # servers in each group, shape (groups,)

    @classmethod
    def of(cls, reduction: Reduction) -> "ReductionCosts":
        """Return the costs of a reduction as arrays."""
        groups = reduction.groups
        source = np.repeat(np.arange(len(groups)), [len(group.jobs) for group in groups])
        sink = np.array([job for group in groups for job in group.jobs], dtype=np.int64)
        # a price has at most as many parts as all costs together, and every server may lie below it
        largest = 4 * reduction.largest * _FINENESS * max(reduction.servers, 1) ** 2
        kind = np.int64 if largest.bit_length() <= _BITS else object
        return cls(
            reduction,
            Network(len(groups), len(reduction.weights), source, sink),
            np.array(reduction.weights, dtype=kind),
            np.array([group.cost for group in groups], dtype=kind),
            np.array([len(group.servers) for group in groups], dtype=kind),
        )


@dataclass(frozen=True, eq=False)
class CostShares:
    """The cost of each merged job divided among its servers, and a price per server.

    A returned server pays its own cost and its shares. A preempted job costs at least the shares paid for it.
    So the value of a choice of N servers is N times the price, plus

    - the cost of each preempted job beyond its shares,
    - for each returned server that costs more than the price, the difference,
    - for each kept server that costs less than the price, the difference,
    - the shares of kept servers in the costs of preempted jobs,

    minus the differences of all servers that cost less than the price, which are the same for every choice.
    None of the four items is negative, so dropping them leaves a lower bound. A choice is worse than a target
    if any single item exceeds the distance between bound and target.
    """

    costs: ReductionCosts
    parts: int  # parts into which a cost of 1 is divided
    shares: Integers  # parts that the servers of a group pay together for a merged job, by pair, shape (pairs,)
    price: int  # price of a server, in parts

    @cached_property
    def bound(self) -> Fraction:
        """A lower bound on the value of every choice."""
        reduction = self.costs.reduction
        return reduction.paid + Fraction(self._least, self.parts)

    @cached_property
    def _least(self) -> int:
        return self.price * self.costs.reduction.demand - int(self._below.sum())

    @cached_property
    def _above(self) -> Integers:
        """The total by which the servers of each group cost more than the price; negative if they cost less."""
        costs = self.costs
        own: Integers = costs.sizes * (costs.own * self.parts - self.price)
        return own + costs.network.outflow(self.shares)

    @cached_property
    def _below(self) -> Integers:
        below: Integers = np.maximum(-self._above, 0)
        return below

    def core(self, target: int) -> Reduction:
        """Restrict the reduction without excluding any choice whose value is at most the target.

        If a job is spared, all its servers are kept; if a server is returned, all its jobs are preempted.
        """
        costs, network = self.costs, self.costs.network
        slack = (target - costs.reduction.paid) * self.parts - self._least
        left = costs.weights * self.parts - network.inflow(self.shares)
        of_one = -(-np.maximum(self._above, 0) // np.maximum(costs.sizes, 1))  # rounded up, as slack is whole
        spared = left > slack
        preempted = network.inflow(self._below[network.source]) > slack
        kept = network.outflow(left[network.sink]) + of_one > slack
        return costs.reduction.restricted(
            np.flatnonzero(preempted).tolist(), np.flatnonzero(spared).tolist(), np.flatnonzero(kept).tolist()
        )


def equal_shares(costs: ReductionCosts) -> CostShares:
    """Divide the cost of each job equally among its servers.

    A server pays its own cost and its shares. The bound is the total payment of the cheapest servers that meet
    the demand; the price is the largest of these payments. Complexity: O(P + G log G) for P pairs of a group
    and a merged job, and G groups.
    """
    reduction, network = costs.reduction, costs.network
    parts = _FINENESS * max(reduction.servers, 1)
    spans = np.maximum(network.inflow(costs.sizes[network.source]), 1)
    shares = (costs.weights * parts // spans)[network.sink]
    paid = costs.own * parts + network.outflow(shares)
    order = np.argsort(paid)
    last = order[np.searchsorted(np.cumsum(costs.sizes[order]), reduction.demand)]
    return CostShares(costs, parts, shares * costs.sizes[network.source], int(paid[last]))
