"""Generation: column generation of patterns, with a bound on the relaxation over all possible patterns."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from formulations.placement.bounds import WorkerPrices, lagrange, round_up
from formulations.placement.linear import Optimum
from formulations.placement.master import Master
from formulations.placement.packing import FillPatterns, Packing, Reals
from formulations.placement.pricing import Pricer
from formulations.placement.volume import volume
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import REDUCED_COST
from gsopt.core.result import StoppedBy

#: Weight of the prices with the best bound so far, when they are mixed with the current ones. Prices that
#: change less need fewer rounds (Pessoa, Sadykov, Uchoa and Vanderbeck, INFORMS Journal on Computing 30, 2018).
_STABLE = 0.7


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The state of the relaxation during column generation."""

    patterns: FillPatterns  # all patterns generated so far
    optimum: Optimum | None = None  # optimum of the relaxation over the patterns; None while it is infeasible
    prices: WorkerPrices | None = None  # prices that prove the best bound
    bound: float = -np.inf  # lower bound on the optimum over all possible patterns
    rounds: int = 0  # number of rounds of pricing
    infeasible: bool = False  # whether it is proven that the relaxation over all patterns is infeasible
    stopped_by: StoppedBy = StoppedBy.FINISHED  # reason why the generation ended

    @property
    def value(self) -> float:
        """Value of the relaxation over the patterns generated so far; infinite if there is no optimum."""
        return np.inf if self.optimum is None else self.optimum.objective


@dataclass(frozen=True, eq=False)
class Generation:
    """A run of column generation."""

    packing: Packing
    pricers: tuple[Pricer | None, ...]  # pricing methods, one per zone; None for a zone without servers
    budget: Budget

    def run(self, known: FillPatterns, center: WorkerPrices | None = None) -> Relaxed:
        """Generate patterns until the relaxation is feasible, and then until it is optimal.

        The run ends early if the time limit is reached, or if further patterns cannot raise the rounded bound.
        `known` contains patterns with which to begin. `center` is the best set of prices of an earlier run, if
        any.
        """
        patterns = known + single_demand_patterns(self.packing)
        master = Master(self.packing)
        master.add(patterns)
        feasible = self._improve(master, Relaxed(patterns), counting_cost=False)
        if feasible.value > REDUCED_COST:
            return replace(feasible, optimum=None, infeasible=feasible.bound > 0)
        bound = volume(self.packing, self.budget)
        begun = replace(feasible, optimum=None, bound=bound, prices=center)
        return self._improve(master, begun, counting_cost=True)

    def _improve(self, master: Master, relaxed: Relaxed, *, counting_cost: bool) -> Relaxed:
        """Add patterns with negative reduced cost until there are none.

        The objective is the cost or, without `counting_cost`, the number of unplaced workers.
        """
        patterns = relaxed.patterns
        best = -np.inf if relaxed.prices is None else lagrange(self.packing, relaxed.prices)
        known = set(patterns.keys())
        while True:
            optimum = master.solve(self.budget, counting_cost=counting_cost)
            if optimum is None:
                return replace(relaxed, stopped_by=ending(self.budget))
            relaxed = replace(relaxed, patterns=patterns, optimum=optimum, rounds=relaxed.rounds + 1)
            if not counting_cost and optimum.objective <= REDUCED_COST:
                return relaxed
            worth = self.packing.worth(optimum.duals)
            worth = worth if counting_cost else np.minimum(worth, 1.0)
            rents = self.packing.rents(optimum.duals, counting_cost=counting_cost)
            fresh = FillPatterns.of((), len(self.packing.demands))
            for asked in _asked(worth, relaxed.prices):
                priced, prices = self._price(asked, rents)
                bound = lagrange(self.packing, prices, counting_cost=counting_cost)
                if bound > best or relaxed.prices is None:
                    best, relaxed = bound, replace(relaxed, prices=prices, bound=max(relaxed.bound, bound))
                fresh = priced.without(known)
                fresh = fresh.only(_paying(fresh, worth, rents))
                if len(fresh) or self._is_known(relaxed, counting_cost=counting_cost) or self.budget.passed:
                    break
            if self.budget.passed:
                return replace(relaxed, stopped_by=StoppedBy.TIME_LIMIT)
            if not len(fresh) or self._is_known(relaxed, counting_cost=counting_cost):
                return relaxed
            known.update(fresh.keys())
            patterns += fresh
            master.add(fresh)

    def _is_known(self, relaxed: Relaxed, *, counting_cost: bool) -> bool:
        """Check whether more patterns can change neither the rounded bound nor the proof of feasibility."""
        if not counting_cost:
            return relaxed.bound > 0
        if not np.isfinite(relaxed.bound):
            return False
        return round_up(self.packing, relaxed.bound) >= round_up(self.packing, relaxed.value - REDUCED_COST)

    def _price(self, worth: Reals, rents: Reals) -> tuple[FillPatterns, WorkerPrices]:
        """Find patterns that are worth more than their rent, and bound the worth of all patterns."""
        rows = []
        most = np.zeros((len(self.packing.zones), len(rents)))
        for z, (zone, pricer) in enumerate(zip(self.packing.zones, self.pricers, strict=True)):
            if pricer is None:
                continue
            kinds = list(zone.kinds)
            asked = np.zeros(len(self.packing.demands))
            asked[list(zone.demands)] = worth[z, list(zone.demands)]
            priced = pricer(asked, rents[kinds], budget=self.budget)
            most[z, kinds] = priced.most
            rows += [(z, kinds[room], counts) for room, counts in zip(priced.room, priced.counts, strict=True)]
        return FillPatterns.of(rows, len(self.packing.demands)), WorkerPrices(worth, most)


def _asked(worth: Reals, best: WorkerPrices | None) -> list[Reals]:
    """Return the sets of prices to try: first a mix of the best and the current ones, then the current ones."""
    return [worth] if best is None else [_STABLE * best.worth + (1 - _STABLE) * worth, worth]


def _paying(patterns: FillPatterns, worth: Reals, rents: Reals) -> NDArray[np.bool_]:
    """Return whether each pattern has a negative reduced cost."""
    worths = (patterns.counts * worth[patterns.zone]).sum(axis=1)
    paying: NDArray[np.bool_] = worths > rents[patterns.kind] + REDUCED_COST
    return paying


def ending(budget: Budget) -> StoppedBy:
    """Return why a linear program has no optimum: the time limit was reached or the solver failed."""
    return StoppedBy.TIME_LIMIT if budget.passed else StoppedBy.CRASH


def single_demand_patterns(packing: Packing) -> FillPatterns:
    """Return, for each zone and demand, a pattern with as many workers of that demand as fit on one server."""
    rows = []
    for z, zone in enumerate(packing.zones):
        kinds = list(zone.kinds)
        for demand in zone.demands if kinds else ():
            need = packing.demands[demand]
            holds = (packing.rooms[kinds][:, need > 0] // need[need > 0]).min(axis=1)
            best = int(holds.argmax())
            if holds[best]:
                counts = np.zeros(len(packing.demands), dtype=np.int64)
                counts[demand] = min(holds[best], packing.totals[demand])
                rows.append((z, kinds[best], counts))
    return FillPatterns.of(rows, len(packing.demands))
