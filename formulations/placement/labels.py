"""Labels: pricing by branch and bound in arrays, for amounts however fine."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations.placement.layers import extend, fitting
from formulations.placement.multipliers import multipliers
from formulations.placement.packing import Integers, Reals
from formulations.placement.pricing import Priced
from gsopt.budget import Budget
from gsopt.tolerances import REDUCED_COST, SUM

#: Fillings that are followed at a time, unless told otherwise.
_WIDTHS = (300, 6_000, 50_000)

#: Extensions of fillings that are made at a time, at most.
_EXTENSIONS = 400_000

#: Rooms with fillings that pay after which the others need not be looked at.
_ENOUGH = 3

#: Best fillings of a room among which those are chosen that are given.
_BEST = 300


@dataclass(frozen=True, eq=False)
class Labels:
    """Prices by extending fillings, all at once, demand by demand, and dropping those that cannot pay.

    Multipliers of the resources, the duals of the room's linear relaxation, give every decision a penalty: a
    worker that is worth more than its resources is missed at the difference, one that is worth less is charged
    it, and so is what stays free. A filling is worth the relaxation's value minus its penalties, so it is
    dropped when these exceed the distance to the rent; demands with the largest penalties are decided first.
    Where too many fillings are left the best go on, and the worth of the others is bounded.

    A filling holds no more workers of a demand than there are.

    Attributes
    ----------
    demands
        Shape (demands, resources).
    rooms
        Shape (rooms, resources).
    totals
        Number of workers of each demand, shape (demands,).
    widths
        How many fillings are followed at a time: few at first, more where few find nothing that pays.

    Examples
    --------
    >>> labels = Labels(np.array([[4], [3]]), np.array([[8]]), np.array([1, 9]))
    >>> priced = labels(np.array([0.5, 0.4]), np.array([0.85]), budget=Budget())
    >>> priced.most.round(3), priced.counts
    (array([0.9]), [array([1, 1])])
    """

    demands: Integers
    rooms: Integers
    totals: Integers
    widths: tuple[int, ...] = _WIDTHS

    def __call__(self, worth: Reals, rents: Reals, *, budget: Budget) -> Priced:
        """Find fillings that pay, of a few rooms; bound the worth of all fillings of every room."""
        prices = multipliers(self.demands, self.rooms.max(axis=0), self.totals, worth, budget)
        beyond = np.maximum(worth - self.demands @ prices, 0.0) @ self.totals
        most = self.rooms @ prices + beyond
        found: list[tuple[int, Integers]] = []
        searched = 0
        for room in np.argsort(rents - most, kind="stable").tolist():
            if most[room] <= rents[room] or searched == _ENOUGH or budget.passed:
                break
            counts, bound = self._search(worth, room, rents[room], budget)
            most[room] = min(most[room], bound)
            found += [(room, filling) for filling in counts]
            searched += bool(len(counts))
        return Priced([room for room, _ in found], [counts for _, counts in found], most)

    def _search(self, worth: Reals, room: int, rent: float, budget: Budget) -> tuple[Integers, float]:
        """Give fillings of a room that pay, and a bound on the worth of all."""
        prices = multipliers(self.demands, self.rooms[room], self.totals, worth, budget)
        counts, most = np.zeros((0, len(self.demands)), dtype=np.int64), np.inf
        for width in self.widths:
            layers = self._follow(worth, room, prices, rent, width, budget)
            counts, most = layers.best(rent), min(most, layers.most)
            if len(counts) or most <= rent or budget.passed:
                break
        return counts, most

    def _follow(
        self, worth: Reals, room: int, prices: Reals, rent: float, width: int, budget: Budget
    ) -> "_Followed":
        """Extend fillings demand by demand."""
        charged = worth - self.demands @ prices
        fits = (self.demands <= self.rooms[room]).all(axis=1) & (worth > 0) & (self.totals > 0)
        whole = float(prices @ self.rooms[room] + np.maximum(charged[fits], 0.0) @ self.totals[fits])
        slack, dropped = whole - rent + SUM * whole, -np.inf
        order = np.flatnonzero(fits & (charged >= -slack))  # no other worker has a place in what pays
        order = order[np.argsort(-np.abs(charged[order]), kind="stable")]
        totals = self.totals[order]
        later = np.cumsum((self.demands[order] * totals[:, np.newaxis])[::-1], axis=0)[::-1]
        later = np.vstack([later[1:], np.zeros((1, later.shape[1]), dtype=np.int64)])
        free, penalty = self.rooms[room][:, np.newaxis], np.zeros(1)
        steps: list[_Step] = []
        for position, demand in enumerate(order.tolist()):
            if budget.passed:
                return _Followed(worth, [], np.zeros(1), np.inf)
            need, gain = self.demands[demand], float(charged[demand])
            holds = fitting(free, need, int(totals[position]))
            most_parents = max(int(np.searchsorted(np.cumsum(holds + 1), _EXTENSIONS, side="right")), 1)
            if most_parents < holds.size:  # parents are in no order; those beyond are bounded and dropped
                dropped = max(dropped, whole - float(penalty[most_parents:].min()))
                free, penalty, holds = free[:, :most_parents], penalty[:most_parents], holds[:most_parents]
            parents, numbers, extended = extend(free, need, holds)
            penalty = penalty[parents] + np.where(
                gain > 0, (totals[position] - numbers) * gain, -numbers * gain
            )
            idle = np.maximum(extended - later[position][:, np.newaxis], 0)
            total = penalty + prices @ idle
            kept = np.flatnonzero(total <= slack)
            if kept.size > width:
                nearest = np.argpartition(total[kept], width)
                dropped = max(dropped, whole - float(total[kept[nearest[width]]]))
                kept = kept[nearest[:width]]
            if len(need) == 1 and kept.size:
                kept = kept[_undominated(extended[0, kept], penalty[kept] + prices[0] * extended[0, kept])]
            free, penalty = extended[:, kept], penalty[kept]
            steps.append(_Step(demand, parents[kept].astype(np.int32), numbers[kept].astype(np.int32)))
        found = whole - penalty - prices @ free if penalty.size else np.zeros(0)
        return _Followed(worth, steps, found, max(dropped, float(found.max(initial=rent)), rent))


class _Step(NamedTuple):
    """One demand decided: for each filling that goes on the one it comes from, and the workers added."""

    demand: int
    parents: Integers
    numbers: Integers


class _Followed(NamedTuple):
    """The fillings that were followed to the end: how they came about, their worth, and a bound on any."""

    worth_of_demands: Reals
    steps: list[_Step]
    worth: Reals
    most: float

    def best(self, rent: float) -> Integers:
        """Give fillings that pay: the best, and for each demand the best that holds it."""
        paying = np.flatnonzero(self.worth > rent + REDUCED_COST)
        if paying.size > _BEST:
            paying = paying[np.argpartition(-self.worth[paying], _BEST)[:_BEST]]
        paying = paying[np.argsort(-self.worth[paying], kind="stable")]
        counts = np.zeros((paying.size, self.worth_of_demands.size), dtype=np.int64)
        for step in reversed(self.steps):
            counts[:, step.demand] = step.numbers[paying]
            paying = step.parents[paying]
        holding = counts[:, counts.any(axis=0)] > 0
        return counts[np.unique(holding.argmax(axis=0))] if holding.size else counts[:0]


def _undominated(free: Integers, penalty: Reals) -> Integers:
    """Find the fillings of one resource beside which none leaves more free and is worth no less."""
    order = np.lexsort((penalty, -free))
    sorted_penalty = penalty[order]
    best_before = np.minimum.accumulate(np.append(np.inf, sorted_penalty[:-1]))
    kept: Integers = order[sorted_penalty < best_before]
    return kept
