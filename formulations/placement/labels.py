"""Labels: pricing by branch and bound in arrays, for amounts of any resolution."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations.placement.multipliers import multipliers
from formulations.placement.packing import Integers, Reals
from formulations.placement.pricing import PricingResult
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import REDUCED_COST, SUM

#: Fillings that are followed at a time, unless told otherwise.
_WIDTHS = (300, 6_000, 50_000)

#: Bundles of workers that narrow searches know, those that are worth most beyond their resources.
_FEW_BUNDLES = 80

#: Width up to which a search is narrow.
_NARROW = 300

#: Fillings of one resource up to which those that others dominate are not looked for.
_CROWD = 50

#: Rooms with fillings that pay after which the others need not be looked at.
_ENOUGH = 3

#: Best fillings of a room among which those are chosen that are given.
_BEST = 300


@dataclass(frozen=True, eq=False)
class LabelPricing:
    """Pricing by extending all fillings at once, bundle by bundle, and dropping those that cannot pay.

    Multipliers of the resources, the duals of the room's linear relaxation, give each decision a penalty. If a
    worker is worth more than its resources, leaving it out costs the difference; if it is worth less, adding it
    does. Idle resources cost their price. The worth of a filling is the relaxation's value minus its penalties,
    so it is dropped once these exceed the distance to the rent. Workers with the largest penalties are decided
    first. If too many fillings remain, the best are kept, and the worth of the others is bounded.

    A filling holds at most as many workers of a demand as there are.
    """

    demands: Integers  # shape (demands, resources)
    rooms: Integers  # shape (rooms, resources)
    totals: Integers  # number of workers of each demand, shape (demands,)
    # how many fillings are followed at a time: few at first, more where few find nothing that pays
    widths: tuple[int, ...] = _WIDTHS

    def __call__(self, worth: Reals, rents: Reals, *, budget: Budget) -> PricingResult:
        """Find fillings that pay for a few rooms, and bound the worth of all fillings of every room."""
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
        """Return fillings of a room that pay, and a bound on the worth of all its fillings."""
        bundles = _Bundles.of(self, worth, room, prices)
        counts, most = np.zeros((0, len(self.demands)), dtype=np.int64), bundles.whole
        for width in self.widths:
            followed = _follow(bundles, self.rooms[room], rent, width, budget)
            counts, most = followed.best(rent, len(self.demands)), min(most, followed.most)
            if len(counts) or most <= rent or budget.passed:
                break
        return counts, most


class _Bundles(NamedTuple):
    """Workers of one demand in bundles of 1, 2, 4, ..., which are decided one after another."""

    # demand, size: the demand of each bundle, and the number of its workers, shape (bundles,)
    demand: Integers
    size: Integers
    needs: Integers  # what the workers need together, shape (bundles, resources)
    charged: Reals  # what they are worth beyond the resources that they take, shape (bundles,)
    prices: Reals  # the resources' multipliers, shape (resources,)
    whole: float  # value of the room's relaxation: no filling is worth more

    @classmethod
    def of(cls, labels: LabelPricing, worth: Reals, room: int, prices: Reals) -> "_Bundles":
        """Bundle the workers that fit in a room and have a positive worth."""
        free, demands = labels.rooms[room], labels.demands
        holds = np.where(demands > 0, free // np.maximum(demands, 1), labels.totals[:, np.newaxis]).min(axis=1)
        totals = np.where(worth > 0, np.minimum(holds, labels.totals), 0)
        pairs = [(i, size) for i, total in enumerate(totals.tolist()) if total for size in _sizes(total)]
        demand, size = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        charged = size * (worth - demands @ prices)[demand]
        whole = float(prices @ free + np.maximum(charged, 0.0).sum())
        return cls(demand, size, demands[demand] * size[:, np.newaxis], charged, prices, whole)

    def chosen(self, width: int, slack: float) -> tuple[Integers, Integers]:
        """Return the bundles to decide, most decisive first, and the bundles left out."""
        order = np.flatnonzero(self.charged >= -slack)  # no other has a place in a filling that pays
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
    """A decided bundle: each kept filling's parent, and the number of workers added."""

    demand: int
    parents: Integers
    numbers: Integers


class _Followed(NamedTuple):
    """The fillings that were followed to the end: their origins, their worth, and a bound on all fillings."""

    steps: list[_Step]
    worth: Reals
    most: float

    def best(self, rent: float, demands: int) -> Integers:
        """Return fillings that pay: the best one, and for each demand the best one that holds it."""
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
    """Extend fillings bundle by bundle."""
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
            idle = np.maximum(free - later[position + 1][:, np.newaxis], 0)  # nobody is left to take it
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
    """Return fillings of one resource that no other filling dominates by room and worth."""
    order = np.lexsort((penalty, -free))
    sorted_penalty = penalty[order]
    best_before = np.minimum.accumulate(np.append(np.inf, sorted_penalty[:-1]))
    kept: Integers = order[sorted_penalty < best_before]
    return kept
