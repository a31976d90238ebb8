"""Search: the positional model of `milp`, solved again with more cuts until its solution violates none."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf

from formulations.common.prover import Prover
from formulations.proving import proven_bound
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.cells import Cells, cell_form, encode
from formulations.scheduling.mixture import Item, lift_prices, shortest_mixture
from formulations.scheduling.order import OrderPlan, best_nearby_plan, event_order, refuted
from formulations.scheduling.positions import Positions
from formulations.scheduling.timetable import replay
from gsopt.core.budget import Budget
from gsopt.core.errors import ModelMismatch
from gsopt.core.numbers.tolerances import CONTINUOUS, HIGHS_ROWS, LINEAR_ROWS, MISMATCH
from gsopt.core.result import Status, StoppedBy, plain
from gsopt.solvers.backends import Incumbent, Outcome
from gsopt.solvers.backends.base import Vector
from gsopt.solvers.standard_form import StandardForm

#: Fraction of the remaining time for the solver; the rest is for converting its solution to a schedule and for
#: proving its bound.
_SHARE = 0.5

#: Maximum number of rounds of cuts in the linear relaxation.
_ROOT_ROUNDS = 2

#: Smallest relative gap that the solver is asked for: well below the gap that counts as closed.
_GAP = CONTINUOUS / 4

#: Cost of a unit of time in the solver's objective. It is large, so that the solver's tolerance for reduced
#: costs is small in comparison.
_COST = 1e3


class PositionSearch:
    """A search that solves the positional model, adds cuts to it, and keeps the best schedule.

    Some best schedule must lie in the windows of `positions`. A cut consists of prices of modes: in any cell,
    the times spent in the modes, multiplied by these prices, add up to at most the length of the cell. Raises
    `Unsupported` as `Cells.of` does.
    """

    def __init__(
        self,
        best: BestSchedule,
        positions: Positions,
        budget: Budget,
        cuts: Sequence[Mapping[Item, float]] = (),
    ) -> None:
        self.best, self.positions, self.budget = best, positions, budget
        self.cells = Cells.of(positions)
        self.cuts = list(cuts)
        self.stopped_by = StoppedBy.TIME_LIMIT
        self.solver = ""
        self.message = ""

    def run(self) -> None:
        """Solve the model and add cuts until a solution violates none, or there is another reason to stop."""
        self._cut_at_the_root()
        while (reason := self.best.finished) is None and not self.budget.passed:
            form = cell_form(self.cells, self.cuts)
            outcome = self._solve(form)
            self._learn(form, outcome)
            if outcome.values is None or outcome.stopped_by not in {StoppedBy.FINISHED, StoppedBy.GAP}:
                return
            cuts = [] if self.best.finished else self._violated(form.named(outcome.values))
            if not cuts:
                self._refuse_mismatch(form.objective(outcome.values))
                return
            self.cuts += cuts
        self.stopped_by = reason or StoppedBy.TIME_LIMIT

    def _cut_at_the_root(self) -> None:
        """Add cuts to the linear relaxation before branching."""
        for _ in range(_ROOT_ROUNDS):
            if self.best.finished is not None or self.budget.passed:
                return
            form = cell_form(self.cells, self.cuts)
            outcome = self._solve(form.relaxation)
            if outcome.stopped_by is StoppedBy.INTERRUPT:
                raise KeyboardInterrupt
            cuts = [] if outcome.values is None else self._violated(form.named(outcome.values))
            if not cuts:
                return
            self.cuts += cuts

    def _solve(self, form: StandardForm) -> Outcome:
        """Solve a form whose costs and offset are scaled so that the largest cost is `_COST`.

        Gaps are relative to the total, so the offset has to be scaled too.
        """
        plan, factor, left = self.best.plan, _COST / form.cost.max(), self.budget.left()
        start = None
        if plan is not None and form.integer.any():
            start = form.point(encode(self.positions, replay(self.positions.instance, plan.steps)))
        return (self.budget.backend or Prover()).solve(
            replace(form, cost=form.cost * factor, offset=form.offset * factor),
            time_limit=None if left is None else left * _SHARE,
            gap=max(self.budget.gap, _GAP),
            start=start,
            on_incumbent=partial(self._hear, form) if self.budget.on_incumbent else None,
            log=self.budget.log,
        )

    def _hear(self, form: StandardForm, incumbent: Incumbent) -> bool:
        """Convert the solver's incumbent to a schedule, and return whether to stop."""
        self.best.take(self._plan(form, incumbent.values))
        return self.best.asked_to_stop

    def _learn(self, form: StandardForm, outcome: Outcome) -> None:
        """Keep the solver's schedule and bound."""
        best = self.best
        self.solver, self.stopped_by = outcome.solver, outcome.stopped_by
        self.message = f"{outcome.message}, {len(self.cuts)} cuts"
        if outcome.status is Status.INFEASIBLE:
            # else rounding keeps the schedule known out of its windows
            if best.plan is None and refuted(best.instance, budget=self.budget):
                best.infeasible = "no schedule keeps all deadlines"
            return
        if outcome.values is not None:
            best.take(self._plan(form, outcome.values))
        if outcome.bound is not None and form.integer.any():
            self._prove(form, outcome.bound * form.cost.max() / _COST)

    def _prove(self, form: StandardForm, claimed: float) -> None:
        """Prove the bound that the solver claims, or as much of it as is necessary and time allows."""
        best = self.best
        if best.instance.total(claimed) <= best.lower or best.finished is not None:
            return
        factor, goal = _COST / form.cost.max(), claimed
        if best.completions is not None:
            goal = min(goal, best.instance.mean_jct(best.goal))
        found = proven_bound(
            replace(form, cost=form.cost * factor, offset=form.offset * factor),
            self.budget,
            largest=self.cells.largest,
            goal=goal * factor,
        )
        if found > -inf:
            best.raise_bound(best.instance.total(found / factor))

    def _plan(self, form: StandardForm, values: Vector) -> OrderPlan | None:
        return plan_of(self.positions, form.named(values), self.budget)

    def _refuse_mismatch(self, modelled: float) -> None:
        """Raise `ModelMismatch` if the schedule is clearly worse than the model's solution."""
        best = self.best
        if best.plan is None or best.asked_to_stop or self.budget.passed:
            return
        value = best.instance.mean_jct(best.total)
        if value > modelled * (1 + MISMATCH):
            raise ModelMismatch(f"milp: the model counts {modelled}, the best schedule {plain(value)}")

    def _violated(self, values: Mapping[str, float]) -> list[Mapping[Item, float]]:
        """Return prices for the cells whose modes run longer than any mixture of configurations allows."""
        found: list[Mapping[Item, float]] = []
        for cell, items in self.cells.times.items():
            where = f"{cell[0]},{cell[1]}"
            times = {(j, k): time for j, k in items if (time := values[f"y[{j},{k},{where}]"]) > HIGHS_ROWS}
            length, prices = shortest_mixture(self.positions.instance, times)
            cut = lift_prices(self.positions.instance, prices)
            if length > values[f"l[{where}]"] + LINEAR_ROWS and cut not in self.cuts + found:
                found.append(cut)
            if self.budget.passed:
                break
        return found


def plan_of(positions: Positions, values: Mapping[str, float], budget: Budget) -> OrderPlan | None:
    """Return the best plan found for a solution's order of events or a nearby order (see `best_nearby_plan`).

    The result is None if no plan is found for the solution's own order.
    """
    instance = positions.instance
    jobs = range(len(instance))
    completions = [
        positions.unit * sum(values.get(f"z[{job},{p}]", 0.0) * values[f"T[{p}]"] for p in jobs) for job in jobs
    ]
    return best_nearby_plan(instance, event_order(instance, completions), budget=budget)
