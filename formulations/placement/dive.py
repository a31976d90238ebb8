"""Dive: a heuristic that fixes patterns step by step and generates new ones for the remaining workers."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from formulations.placement.labels import LabelPricing
from formulations.placement.linear import Optimum
from formulations.placement.master import Master
from formulations.placement.packing import Filled, FillPatterns, Integers, Packing
from formulations.placement.start import complete
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import FEASIBILITY, REDUCED_COST

#: Maximum number of pricing rounds each time patterns are fixed, in the first dive and in later ones.
_ROUNDS = 2, 4

#: Number of fillings that pricing keeps at a time.
_WIDTHS = (300,)

#: Largest random amount added to the value of a pattern when the next one to fix is chosen, in later dives.
_CHANCE = 0.5


@dataclass(eq=False)
class Diver:
    """Repeated dives into one relaxation, which share the generated patterns.

    A dive solves the relaxation and fixes each pattern that it uses at least once, rounding its number of uses
    down. If there is none, a single use of the most used pattern is fixed; later dives vary this choice at
    random. The workers in fixed patterns are removed, patterns are generated for the others, and the relaxation
    is solved again, until no worker is left or the value over the patterns generated so far exceeds the goal.
    If the time limit is reached, the remaining workers are placed by best fit. Dives require a single zone,
    that is, a problem in which pools do not matter.

    Source: Sadykov, Vanderbeck, Pessoa, Tahiri and Uchoa, "Primal heuristics for branch and price", INFORMS
    Journal on Computing 31 (2019).
    """

    packing: Packing
    patterns: FillPatterns  # all patterns generated so far
    random: np.random.Generator  # random generator for all dives except the first
    dives: int = 0
    _known: set[tuple[int, int, bytes]] = field(init=False)

    def __post_init__(self) -> None:
        self._known = set(self.patterns.keys())
        self._master = Master(self.packing)
        self._master.add(self.patterns)

    def dive(self, goal: float, budget: Budget) -> Filled | None:
        """Search for a solution whose value is at most `goal`; return None if the dive fails.

        The value of a returned solution may exceed `goal`: the last pattern fixed may cost more than
        the relaxation allowed for, or the time limit may be reached.
        """
        needs, left = self.packing.totals.copy(), self.packing.limits.copy()
        fixed: Counter[int] = Counter()
        cost = self.packing.offset
        while needs.any():
            self._master.demand(needs, left)
            optimum = self._generate(needs, goal - cost, budget)
            if optimum is None:
                break
            for pattern, most in self._choose(optimum).items():
                counts, kind = self.patterns.counts[pattern], self.patterns.kind[pattern]
                times = min(most, int(left[kind]), _useful(counts, needs))
                needs = np.maximum(needs - times * counts, 0)
                left[kind] -= times
                cost += times * int(self.packing.costs[kind])
                fixed[pattern] += times
        self.dives += 1
        if needs.any() and not budget.passed:
            return None
        rest = complete(self.packing, needs, left)
        used = np.array(sorted(fixed), dtype=np.int64)
        chosen = FillPatterns(self.patterns.zone[used], self.patterns.kind[used], self.patterns.counts[used])
        often = np.array([fixed[pattern] for pattern in used.tolist()], dtype=np.int64)
        return None if rest is None else Filled(chosen + rest.patterns, np.append(often, rest.values))

    def _generate(self, needs: Integers, goal: float, budget: Budget) -> Optimum | None:
        """Solve the relaxation for the remaining workers, with a few rounds of pricing.

        Return None if the goal cannot be reached or no optimum is found in time.
        """
        pricer = LabelPricing(self.packing.demands, self.packing.rooms, needs, _WIDTHS)
        for _ in range(_ROUNDS[self.dives > 0]):
            optimum = self._master.solve(budget)
            if optimum is None:
                return None
            worth, rents = self.packing.worth(optimum.duals)[0], self.packing.rents(optimum.duals)
            priced = pricer(worth, rents, budget=budget)
            rows = [(0, room, counts) for room, counts in zip(priced.room, priced.counts, strict=True)]
            fresh = FillPatterns.of(rows, needs.size).without(self._known)
            if not len(fresh) or budget.passed:
                break
            self._known.update(fresh.keys())
            self.patterns += fresh
            self._master.add(fresh)
        optimum = self._master.solve(budget)
        if optimum is None or budget.passed:
            return None
        return optimum if optimum.objective - self.packing.offset <= goal + REDUCED_COST else None

    def _choose(self, optimum: Optimum) -> dict[int, int]:
        """Return the patterns to fix and how often: all with a value of at least 1, or else the largest one."""
        filled = optimum.values
        whole = np.floor(filled + FEASIBILITY).astype(np.int64)
        if whole.any():
            return {pattern: int(whole[pattern]) for pattern in np.flatnonzero(whole).tolist()}
        chance = self.random.random(filled.size) * _CHANCE if self.dives else np.zeros(filled.size)
        return {int(np.where(filled > FEASIBILITY, filled + chance, 0.0).argmax()): 1}


def _useful(counts: Integers, needs: Integers) -> int:
    """Return how often a pattern can be used without holding more workers than remain, but at least 1."""
    holds = counts > 0
    return max(int((needs[holds] // counts[holds]).min()), 1)
