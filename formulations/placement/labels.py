"""Labels: pricing by a branch and bound on arrays, also for amounts that are too fine for a table."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations.placement.multipliers import multipliers
from formulations.placement.packing import Integers, Reals
from formulations.placement.pricing import PricingResult
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import REDUCED_COST, SUM

#: Default numbers of fillings kept at a time.
_WIDTHS = (300, 6_000, 50_000)

#: Number of bundles in narrow searches, which are those with the most worth beyond the price of their
#: resources.
_FEW_BUNDLES = 80

#: Largest width of a narrow search.
_NARROW = 300

#: Number of fillings, with a single resource, up to which dominated ones are not removed.
_CROWD = 50

#: Number of rooms with profitable fillings after which the search ends.
_ENOUGH = 3

#: Number of best fillings of a room from which the returned ones are chosen.
_BEST = 300


@dataclass(frozen=True, eq=False)
class LabelPricing:
    """Pricing that extends all fillings bundle by bundle, and drops those that cannot be profitable.

    The workers of one demand are divided into bundles of 1, 2, 4, ... workers and a last one of those left
    over. A filling contains all workers of a bundle or none of them. It is profitable if it is worth more than
    the rent of its room.

    The duals of the linear relaxation of filling a room serve as prices of its resources, and they give each
    decision a penalty. If a worker is worth more than the price of its resources, leaving it out costs the
    difference. If it is worth less, adding it costs the difference. Idle resources cost their price. The worth
    of a filling is the relaxation's value minus the filling's penalties, so a filling is dropped once its
    penalties exceed the difference between the relaxation's value and the rent. Bundles with the largest
    penalties are decided first. If too many fillings remain, the best are kept, and the worth of the others is
    bounded.

    A filling never holds more workers of a demand than exist.
    """

    demands: Integers  # shape (demands, resources)
    rooms: Integers  # shape (rooms, resources)
    totals: Integers  # number of workers of each demand, shape (demands,)
    # numbers of fillings kept at a time, tried in this order until a profitable filling is found
    widths: tuple[int, ...] = _WIDTHS

    def __call__(self, worth: Reals, rents: Reals, *, budget: Budget) -> PricingResult:
        """Find profitable fillings for a few rooms, and bound the worth of all fillings of every room."""
        prices = multipliers(self.demands, self.rooms.max(axis=0), self.totals, worth, budget)
        beyond = np.maximum(worth - self.demands @ prices, 0.0) @ self.totals
        most = self.rooms @ prices + beyond
        found: list[tuple[int, Integers]] = []
        searched = 0
        for room in np.argsort(rents - most, kind="stable").tolist():
            if most[room] <= rents[room] or searched == _ENOUGH or budget.passed:
                break
            if len(self.rooms) > 1:
                prices = multipliers(self.demands, self.rooms[room], self.totals, worth, budget)
            counts, bound = self._search(worth, room, prices, rents[room], budget)
            most[room] = min(most[room], bound)
            found += [(room, filling) for filling in counts]
            searched += bool(len(counts))
        return PricingResult([room for room, _ in found], [counts for _, counts in found], most)

    def _search(
        self, worth: Reals, room: int, prices: Reals, rent: float, budget: Budget
    ) -> tuple[Integers, float]:
        """Return profitable fillings of a room, and a bound on the worth of all its fillings."""
        bundles = _Bundles.of(self, worth, room, prices)
        counts, most = np.zeros((0, len(self.demands)), dtype=np.int64), bundles.whole
        for width in self.widths:
            followed = _follow(bundles, self.rooms[room], rent, width, budget)
            counts, most = followed.best(rent, len(self.demands)), min(most, followed.most)
            if len(counts) or most <= rent or budget.passed:
                break
        return counts, most


class _Bundles(NamedTuple):
    """Workers of each demand in bundles of 1, 2, 4, ..., which are decided one after another."""

    # demand, size: demand of each bundle, and number of workers in it, shape (bundles,)
    demand: Integers
    size: Integers
    needs: Integers  # total needs of each bundle, shape (bundles, resources)
    charged: Reals  # worth of each bundle minus the price of its resources, shape (bundles,)
    prices: Reals  # multipliers of the resources, shape (resources,)
    whole: float  # value of the room's relaxation, an upper bound on the worth of any filling

    @classmethod
    def of(cls, labels: LabelPricing, worth: Reals, room: int, prices: Reals) -> "_Bundles":
        """Bundle the workers that fit into a room and have a positive worth."""
        free, demands = labels.rooms[room], labels.demands
        holds = np.where(demands > 0, free // np.maximum(demands, 1), labels.totals[:, np.newaxis]).min(axis=1)
        totals = np.where(worth > 0, np.minimum(holds, labels.totals), 0)
        pairs = [(i, size) for i, total in enumerate(totals.tolist()) if total for size in _sizes(total)]
        demand, size = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        charged = size * (worth - demands @ prices)[demand]
        whole = float(prices @ free + np.maximum(charged, 0.0).sum())
        return cls(demand, size, demands[demand] * size[:, np.newaxis], charged, prices, whole)

    def chosen(self, width: int, slack: float) -> tuple[Integers, Integers]:
        """Return the bundles to decide, in descending order of penalty, and the bundles that are left out."""
        order = np.flatnonzero(self.charged >= -slack)  # no other can be in a profitable filling
        others = order[:0]
        if width <= _NARROW and order.size > _FEW_BUNDLES:
            order = order[np.argpartition(-self.charged[order], _FEW_BUNDLES)]
            order, others = order[:_FEW_BUNDLES], order[_FEW_BUNDLES:]
        return order[np.argsort(-np.abs(self.charged[order]), kind="stable")], others


def _sizes(total: int) -> list[int]:
    """Split a number into 1, 2, 4, ... and a rest, so that every smaller number is a sum of some of them."""
    sizes, size = [], 1
    while size < total:
        sizes.append(size)
        total, size = total - size, 2 * size
    return [*sizes, total]


class _Step(NamedTuple):
    """The result of deciding one bundle: for each kept filling, its parent and the number of workers added."""

    demand: int
    parents: Integers
    numbers: Integers


class _Followed(NamedTuple):
    """The complete fillings: the steps that led to them, their worth, and a bound on all fillings."""

    steps: list[_Step]
    worth: Reals
    most: float

    def best(self, rent: float, demands: int) -> Integers:
        """Return profitable fillings: the best of all, and the best that holds each demand."""
        paying = np.flatnonzero(self.worth > rent + REDUCED_COST)
        if paying.size > _BEST:
            paying = paying[np.argpartition(-self.worth[paying], _BEST)[:_BEST]]
        paying = paying[np.argsort(-self.worth[paying], kind="stable")]
        counts = np.zeros((paying.size, demands), dtype=np.int64)
        for step in reversed(self.steps):
            counts[:, step.demand] += step.numbers[paying]
            paying = step.parents[paying]
        holding = counts[:, counts.any(axis=0)] > 0
        return counts[np.unique(holding.argmax(axis=0))] if holding.size else counts[:0]


def _follow(bundles: _Bundles, room: Integers, rent: float, width: int, budget: Budget) -> _Followed:
    """Extend fillings bundle by bundle, keeping at most `width` fillings after each."""
    slack = bundles.whole - rent + SUM * bundles.whole
    order, others = bundles.chosen(width, slack)
    dropped = bundles.whole + min(float(bundles.charged[others].max()), 0.0) if others.size else rent
    later = np.cumsum(bundles.needs[order][::-1], axis=0)[::-1]
    free, penalty = room[:, np.newaxis], np.full(1, np.maximum(bundles.charged[others], 0.0).sum())
    steps: list[_Step] = []
    for position, bundle in enumerate(order.tolist()):
        if budget.passed:
            return _Followed([], np.zeros(0), bundles.whole)
        need, charged = bundles.needs[bundle], float(bundles.charged[bundle])
        fits = np.flatnonzero((free >= need[:, np.newaxis]).all(axis=0))
        parents = np.append(fits, np.arange(penalty.size))
        free = np.hstack([free[:, fits] - need[:, np.newaxis], free])
        penalty = np.append(penalty[fits] - min(charged, 0.0), penalty + max(charged, 0.0))
        total = penalty
        if position + 1 < len(later) and (later[position + 1] < room).any():
            idle = np.maximum(free - later[position + 1][:, np.newaxis], 0)  # more than all later bundles need
            total = penalty + bundles.prices @ idle
        kept = np.flatnonzero(total <= slack)
        if kept.size > width:
            kept = kept[np.argpartition(total[kept], width)]
            dropped = max(dropped, bundles.whole - float(total[kept[width]]))
            kept = kept[:width]
        if room.size == 1 and kept.size > _CROWD:
            kept = kept[_undominated(free[0, kept], penalty[kept] + bundles.prices[0] * free[0, kept])]
        free, penalty = free[:, kept], penalty[kept]
        numbers = np.where(kept < fits.size, bundles.size[bundle], 0)
        steps.append(_Step(int(bundles.demand[bundle]), parents[kept].astype(np.int32), numbers))
    worth = bundles.whole - penalty - bundles.prices @ free
    return _Followed(steps, worth, max(dropped, rent, float(worth.max(initial=rent))))


def _undominated(free: Integers, penalty: Reals) -> Integers:
    """Return the fillings that no other dominates in both room and worth, for a single resource."""
    order = np.lexsort((penalty, -free))
    sorted_penalty = penalty[order]
    best_before = np.minimum.accumulate(np.append(np.inf, sorted_penalty[:-1]))
    kept: Integers = order[sorted_penalty < best_before]
    return kept
