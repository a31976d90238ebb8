"""Table: the pricing method for coarse amounts, a dynamic program over all combinations of amounts."""

from dataclasses import dataclass

import numpy as np

from formulations.placement.packing import Integers, Reals
from formulations.placement.pricing import PricingResult
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import REDUCED_COST


@dataclass(frozen=True, eq=False)
class WorthTable:
    """Pricing by a table of the best worth for all combinations of amounts, as in an unbounded knapsack.

    One table serves all rooms, even if partly used servers lead to many different rooms.
    Memory is proportional to the number of combinations of amounts, and time to this number multiplied by the
    number of demands. Pricing is fast if the first resource has few possible amounts, because the table is
    filled separately for each of them.
    """

    demands: Integers  # shape (demands, resources)
    rooms: Integers  # shape (rooms, resources)
    most_fillings: int = 200  # largest number of fillings to return

    def __call__(self, worth: Reals, rents: Reals, *, budget: Budget) -> PricingResult:
        """Find the best filling of every room, and the best one that holds each demand."""
        best = self._best(worth, budget)
        if best is None:
            return PricingResult([], [], np.full(len(self.rooms), np.inf))
        first = self.rooms[:, np.newaxis, :] - self.demands[np.newaxis, :, :]  # what remains beside one worker
        fits = (first >= 0).all(axis=2) & (worth > 0)
        most = _at(best, self.rooms)
        gain = np.full((len(self.rooms), 1 + len(self.demands)), -np.inf)
        gain[:, 0] = most - rents
        gain[:, 1:][fits] = (_at(best, np.maximum(first, 0)) + worth - rents[:, np.newaxis])[fits]
        order = np.argsort(-gain, axis=None, kind="stable")[: self.most_fillings]
        rooms, columns = np.unravel_index(order[gain.ravel()[order] > REDUCED_COST], gain.shape)
        counts = [
            self._trace(best, worth, self.rooms[room], holding=None if column == 0 else column - 1)
            for room, column in zip(rooms, columns, strict=True)
        ]
        return PricingResult(rooms.tolist(), counts, most)

    def _best(self, worth: Reals, budget: Budget) -> Reals | None:
        """Fill the table: the highest worth of workers that fit into each combination of amounts.

        Return None if the time limit is reached.
        """
        best = np.zeros(self.rooms.max(axis=0) + 1)
        wanted = [
            (demand, gain)
            for demand, gain in zip(self.demands.tolist(), worth.tolist(), strict=True)
            if gain > 0 and (demand <= self.rooms).all(axis=1).any()
        ]
        for amount in range(len(best)):
            here = best[amount : amount + 1]
            for (need, *others), gain in wanted:
                if 0 < need <= amount:
                    _improve(here, best[amount - need : amount - need + 1], (0, *others), gain)
            for (need, *others), gain in wanted:
                if need == 0:
                    _repeat(here, (0, *others), gain)
            if budget.passed:
                return None
        return best

    def _trace(self, best: Reals, worth: Reals, room: Integers, *, holding: int | None) -> Integers:
        """Return the best filling of a room, or the best one that holds a given demand."""
        counts = np.zeros(len(self.demands), dtype=np.int64)
        free = room.copy()
        if holding is not None:
            counts[holding] += 1
            free -= self.demands[holding]
        while best[tuple(free)] > 0:
            without = free - self.demands
            fits = (without >= 0).all(axis=1) & (worth > 0)
            chosen = int(np.where(fits, _at(best, np.maximum(without, 0)) + worth, -np.inf).argmax())
            counts[chosen] += 1
            free = without[chosen]
        return counts


def _at(best: Reals, points: Integers) -> Reals:
    found: Reals = best[tuple(np.moveaxis(points, -1, 0))]
    return found


def _improve(best: Reals, before: Reals, needs: tuple[int, ...], gain: float) -> None:
    """Add one worker to the best earlier fillings wherever this increases their worth."""
    after = best[tuple(slice(need, None) for need in needs)]
    left = before[tuple(slice(None, max(size - need, 0)) for size, need in zip(best.shape, needs, strict=True))]
    np.maximum(after, left + gain, out=after)


def _repeat(best: Reals, needs: tuple[int, ...], gain: float) -> None:
    """Add any number of workers that need nothing of the first resource, by repeated doubling."""
    while all(need < size for need, size in zip(needs, best.shape, strict=True)):
        _improve(best, best, needs, gain)
        needs, gain = tuple(2 * need for need in needs), 2 * gain
