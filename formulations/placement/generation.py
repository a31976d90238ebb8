"""Generation: patterns made as the relaxation asks for them, with a bound over all that could be made."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import eye_array, hstack

from formulations.deadline import Deadline
from formulations.placement.bounds import Prices, lagrange, round_up
from formulations.placement.packing import Packing, Patterns, Reals
from formulations.placement.pricing import Pricer
from formulations.placement.volume import volume
from gsopt.backends import Highs, Outcome
from gsopt.result import StoppedBy
from gsopt.standard_form import StandardForm

_ZERO = 1e-7


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What is known of the relaxation.

    Attributes
    ----------
    patterns
        The patterns so far.
    outcome
        The relaxation's optimum over them, or None while it is infeasible.
    prices
        The prices that go with it.
    bound
        Bound on the optimum over all patterns.
    rounds
        How often prices were set.
    infeasible
        Whether it is proven that the relaxation over all patterns is infeasible.
    stopped_by
        Why the generation ended.
    """

    patterns: Patterns
    outcome: Outcome | None = None
    prices: Prices | None = None
    bound: float = -np.inf
    rounds: int = 0
    infeasible: bool = False
    stopped_by: StoppedBy = StoppedBy.FINISHED

    @property
    def value(self) -> float:
        """Value of the relaxation over the patterns so far."""
        found = None if self.outcome is None else self.outcome.objective
        return np.inf if found is None else found


@dataclass(frozen=True, eq=False)
class Generation:
    """One run of column generation.

    Attributes
    ----------
    packing
        The packing.
    pricers
        Finds the patterns of each zone; None for a zone without servers.
    deadline
        Time limit.
    """

    packing: Packing
    pricers: tuple[Pricer | None, ...]
    deadline: Deadline

    def run(self) -> Relaxed:
        """Make the relaxation feasible, then optimal."""
        feasible = self._improve(Relaxed(_single_demand_patterns(self.packing)), counting_cost=False)
        if feasible.value > _ZERO:
            return replace(feasible, outcome=None, infeasible=feasible.bound > _ZERO)
        bound = volume(self.packing, time_limit=self.deadline.left())
        return self._improve(replace(feasible, outcome=None, bound=bound), counting_cost=True)

    def _improve(self, relaxed: Relaxed, *, counting_cost: bool) -> Relaxed:
        """Add patterns of negative reduced cost until there are none.

        What is minimized is the cost, or the number of workers for which there is no pattern.
        """
        patterns = relaxed.patterns
        known = set(patterns.keys())
        while True:
            form = self.packing.form(patterns).relaxation
            form = form if counting_cost else self._counting_missing(form)
            outcome = Highs().solve(form, time_limit=self.deadline.left())
            if outcome.duals is None:
                return replace(relaxed, stopped_by=outcome.stopped_by)
            worth = self.packing.worth(outcome.duals)
            worth = worth if counting_cost else np.minimum(worth, 1.0)
            rents = self.packing.rents(outcome.duals, counting_cost=counting_cost)
            priced, prices = self._price(worth, rents)
            bound = lagrange(self.packing, prices, counting_cost=counting_cost)
            relaxed = Relaxed(patterns, outcome, prices, max(relaxed.bound, bound), relaxed.rounds + 1)
            fresh = priced.without(known)
            if not len(fresh) or self._is_known(relaxed, counting_cost=counting_cost):
                return relaxed
            if self.deadline.passed:
                return replace(relaxed, stopped_by=StoppedBy.TIME_LIMIT)
            known.update(fresh.keys())
            patterns += fresh

    def _is_known(self, relaxed: Relaxed, *, counting_cost: bool) -> bool:
        """Tell whether more patterns change neither the rounded bound nor whether there is a solution."""
        if not counting_cost:
            return relaxed.value <= _ZERO or relaxed.bound > _ZERO
        if not np.isfinite(relaxed.bound):
            return False
        return round_up(self.packing, relaxed.bound) >= round_up(self.packing, relaxed.value)

    def _price(self, worth: Reals, rents: Reals) -> tuple[Patterns, Prices]:
        """Find patterns worth more than their rent, and the most that any is worth."""
        rows = []
        most = np.zeros((len(self.packing.zones), len(rents)))
        for z, (zone, pricer) in enumerate(zip(self.packing.zones, self.pricers, strict=True)):
            if pricer is None:
                continue
            kinds = list(zone.kinds)
            asked = np.zeros(worth.shape[1])
            asked[list(zone.demands)] = worth[z, list(zone.demands)]
            priced = pricer(asked, rents[kinds], deadline=self.deadline)
            most[z, kinds] = priced.most
            rows += [(z, kinds[room], counts) for room, counts in zip(priced.room, priced.counts, strict=True)]
        return Patterns.of(rows, worth.shape[1]), Prices(worth, most)

    def _counting_missing(self, form: StandardForm) -> StandardForm:
        """Count the workers for which there is no pattern, instead of the cost."""
        columns, covers = form.cost.size, len(self.packing.zones) * len(self.packing.demands)
        return StandardForm.build(
            cost=np.repeat([0.0, 1.0], [columns, covers]),
            matrix=hstack([form.matrix, eye_array(form.row_lower.size, covers)]),
            row_lower=form.row_lower,
            row_upper=form.row_upper,
            column_upper=np.append(form.column_upper, np.full(covers, np.inf)),
            integer=np.zeros(columns + covers, dtype=np.bool_),
        )


def _single_demand_patterns(packing: Packing) -> Patterns:
    """Fill, for each zone and demand, a server that holds most workers of that demand alone."""
    rows = []
    for z, zone in enumerate(packing.zones):
        kinds = list(zone.kinds)
        for demand in zone.demands if kinds else ():
            need = packing.demands[demand]
            holds = (packing.rooms[kinds][:, need > 0] // need[need > 0]).min(axis=1)
            best = int(holds.argmax())
            if holds[best]:
                counts = np.zeros(len(packing.demands), dtype=np.int64)
                counts[demand] = holds[best]
                rows.append((z, kinds[best], counts))
    return Patterns.of(rows, len(packing.demands))
