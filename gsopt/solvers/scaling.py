"""Scaling: objectives that are scaled so that the proofs of solvers hold for the exact problem.

Solvers work with doubles and absolute tolerances. If only integer columns have costs, the costs are therefore
expressed as multiples of their greatest common divisor. They are scaled so that differences between objective
values are well above the solvers' tolerances, and coefficients within the precision of doubles. If no scale
achieves both, the problem is solved in stages. The first stage counts costs in large units and ignores the
remainders, which yields a bound on the optimum. Each later stage counts in smaller units, and considers only
solutions that may be better than the best known one.

If a continuous column has a cost, all costs are scaled so that the largest is a fixed number, and bounds are
loosened by the error that solvers may make.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, isfinite, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack

from gsopt.core.budget import Budget
from gsopt.core.method import accepts
from gsopt.core.numbers.grid import Exact, Number, decimal, step, whole
from gsopt.core.numbers.tolerances import CONTINUOUS_BOUND, LARGEST_COST, LEAST_STEP, SOLVER_BOUND, STEP_PART
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy, is_within
from gsopt.solvers.backends import Incumbent, Outcome, solver_of
from gsopt.solvers.standard_form import StandardForm

Vector = NDArray[np.float64]

#: A function called with each better point, and with the bound at that time or None. If it returns True, the
#: solve stops.
OnPoint = Callable[[Vector, Number | None], object]

#: A function called with each bound that holds despite the solver's tolerances.
OnBound = Callable[[Number], object]

#: Largest integer coefficient of a single stage.
_LARGEST_WHOLE = int(LARGEST_COST / LEAST_STEP) // 2  # half, as scales are powers of two

#: Largest coefficient of an objective with continuous columns.
_CONTINUOUS_COST = 1000

#: Largest coefficient of a stage whose value becomes a row of the next one, as solvers satisfy rows only to
#: 1e-9.
_LARGEST_IN_ROW = 10**5


@dataclass(frozen=True, eq=False)
class Proof:
    """The outcome of a solve, in the original units of the objective.

    Attributes
    ----------
    status
        Whether a point was found, whether it is proven optimal, or whether the model is proven infeasible.
    values
        The best point, shape (columns,), or None.
    bound
        Bound on the optimum that holds despite the solver's tolerances, or None.
    stopped_by
        Why the solver stopped.
    solver
        Solver family.
    message
        The solver's own status, possibly with a note, or the reason why the solver returned no answer.
    """

    status: Status
    values: Vector | None
    bound: Number | None
    stopped_by: StoppedBy
    solver: str
    message: str = ""


def optimize(
    form: StandardForm,
    budget: Budget,
    *,
    costs: Sequence[Number] | None = None,
    offset: Number | None = None,
    start: Vector | None = None,
    on_point: OnPoint | None = None,
    on_bound: OnBound | None = None,
) -> Proof:
    """Solve a model in standard form, with a bound that holds despite the solver's tolerances.

    Parameters
    ----------
    form
        The model.
    budget
        Time limit, gap, backend and log. The start and the callbacks are passed separately.
    costs, offset
        The exact objective, if the floats in the form are rounded. None to read those floats as decimals.
    start
        A feasible point to start from, shape (columns,), with NaN for unknown values.
    on_point
        Called with each better point, and with the bound at that time or None. Returning True stops the solve.
    on_bound
        Called with bounds on the optimum that are proven during the solve, if the backend reports them.

    Examples
    --------
    >>> form = StandardForm.build(cost=[1.1, 1e9], matrix=[[2, 1]], row_lower=[3], row_upper=[np.inf])
    >>> proof = optimize(form, Budget())
    >>> proof.values.tolist(), proof.bound
    ([2.0, 0.0], Fraction(11, 5))
    """
    exact = [decimal(cost) for cost in (form.cost.tolist() if costs is None else costs)]
    constant = decimal(form.offset if offset is None else offset)
    if not all(cost == 0 or integer for cost, integer in zip(exact, form.integer.tolist(), strict=True)):
        return _continuous(form, budget, exact, constant, start, on_point, on_bound)
    unit = step(exact) or Fraction(1)
    unit = unit if form.sense is Sense.MINIMIZE else -unit  # counted in these, less is better

    def restored(bound: Number | None) -> Number | None:
        return None if bound is None else whole(constant + Fraction(bound) * unit)

    stages = _Stages(
        replace(form, sense=Sense.MINIMIZE),
        [int(cost / unit) for cost in exact],
        constant / unit,
        budget,
        None if on_point is None else lambda point, bound: on_point(point, restored(bound)),
        None if on_bound is None else lambda bound: on_bound(whole(constant + bound * unit)),
    )
    proof = stages.run(start)
    return replace(proof, bound=restored(proof.bound))


def _continuous(
    form: StandardForm,
    budget: Budget,
    costs: Sequence[Exact],
    constant: Exact,
    start: Vector | None,
    on_point: OnPoint | None,
    on_bound: OnBound | None,
) -> Proof:
    """Solve a form with costs on continuous columns, after scaling the costs to a fixed magnitude."""
    largest = max((abs(Fraction(cost)) for cost in costs), default=Fraction(0))
    factor = Fraction(_CONTINUOUS_COST) / largest if largest else Fraction(1)
    scaled = replace(form, cost=np.array([float(cost * factor) for cost in costs]), offset=0.0)

    def weakened(bound: Number) -> float:
        error = CONTINUOUS_BOUND * max(1.0, abs(float(bound)))
        weaker = float(bound) - error if form.sense is Sense.MINIMIZE else float(bound) + error
        return float(Fraction(weaker) / factor + constant)

    def restored(bound: Number | None) -> Number | None:
        return None if bound is None else weakened(bound)

    budget = replace(budget, gap=_gap_without(constant, costs, form, budget.gap))
    outcome = _solve(
        scaled,
        budget,
        start,
        None if on_point is None else lambda point, bound: on_point(point, restored(bound)),
        None if on_bound is None else lambda bound: on_bound(weakened(bound)),
    )
    return _proof(outcome, restored(outcome.bound))


class _Stages:
    """The minimization of an objective with integer costs, in stages with smaller and smaller units.

    A stage minimizes ``costs // unit``. Its minimum times the unit yields a bound, as no column is below its
    lower bound. In the next stage, an additional column with a cost of one unit represents the excess over that
    bound, so all other costs are below the unit.
    """

    def __init__(
        self,
        form: StandardForm,
        costs: list[int],
        constant: Fraction,
        budget: Budget,
        on_point: OnPoint | None,
        on_bound: Callable[[int], object] | None,
    ) -> None:
        self.form, self.costs, self.constant = form, costs, constant
        self.budget, self.on_point, self.on_bound = budget, on_point, on_bound
        self.best: Vector | None = None
        self.bound: int | None = None

    def run(self, start: Vector | None) -> Proof:
        """Solve stage by stage until the unit is 1, the bound equals the value, or the solver stops early."""
        self._keep(start)
        stage = _Stage.first(self.form, self.costs)
        while True:
            outcome = self._solve(stage)
            self._keep(outcome.values)
            proven = outcome.bound
            if proven is not None:
                self._raise_bound(stage.bound(proven))
            finished = stage.unit == 1 or outcome.status is not Status.OPTIMAL or self._closed
            if finished or proven is None or self.best is None:
                return replace(_proof(outcome, self.bound), values=self.best, status=self._status(outcome))
            stage = stage.next(proven, self._value(self.best))

    def _solve(self, stage: "_Stage") -> Outcome:
        start = None if self.best is None else stage.lifted(self.best)
        gap = 0.0
        if stage.unit == 1:
            gap = _gap_without(self.constant + stage.constant, stage.costs, stage.form, self.budget.gap)
        budget = replace(self.budget, gap=gap)
        return _solve(
            stage.model,
            budget,
            start,
            None if self.on_point is None else partial(self._hear, stage),
            None if self.on_bound is None else partial(self._hear_bound, stage),
        )

    def _hear(self, stage: "_Stage", point: Vector, bound: Number | None) -> object:
        before = self.best
        self._keep(point)
        if bound is not None:
            self._raise_bound(stage.bound(float(bound)))
        if self.on_point is None or self.best is before or self.best is None:
            return None
        return self.on_point(self.best, self.bound)

    def _hear_bound(self, stage: "_Stage", bound: float) -> None:
        self._raise_bound(stage.bound(bound))
        if self.on_bound is not None and self.bound is not None:
            self.on_bound(self.bound)

    def _keep(self, point: Vector | None) -> None:
        """Keep a point if it is complete and the best so far.

        A start may be incomplete.
        """
        if point is None or not np.isfinite(point).all():
            return
        own = self.form.rounded(point[: len(self.costs)])
        if self.best is None or self._value(own) < self._value(self.best):
            self.best = own

    def _value(self, point: Vector) -> int:
        return sum(cost * round(value) for cost, value in zip(self.costs, point.tolist(), strict=True) if cost)

    def _raise_bound(self, bound: int) -> None:
        """Adopt the bound of a stage, which is valid for all solutions no worse than the best known one."""
        if self.best is not None:
            bound = min(bound, self._value(self.best))
        self.bound = bound if self.bound is None else max(self.bound, bound)

    @property
    def _closed(self) -> bool:
        if self.best is None or self.bound is None:
            return False
        value = self._value(self.best)
        return is_within(value + self.constant, self.bound + self.constant, self.budget.gap)

    def _status(self, outcome: Outcome) -> Status:
        if self.best is None:
            return outcome.status
        return Status.OPTIMAL if self._value(self.best) == self.bound else Status.FEASIBLE


@dataclass(frozen=True, eq=False)
class _Stage:
    """One stage, which minimizes ``costs // unit`` for the objective ``constant + costs @ columns``."""

    form: StandardForm  # the model, with an additional row and column for each earlier stage
    costs: list[int]  # by column
    constant: int  # what every solution pays
    unit: int

    @classmethod
    def first(cls, form: StandardForm, costs: list[int]) -> "_Stage":
        return cls(form, costs, 0, _unit(costs))

    @property
    def model(self) -> StandardForm:
        """The model that is passed to the solver."""
        coarse = np.array([float(cost) for cost in self._coarse])
        return replace(self.form, cost=coarse * self._factor, offset=0.0)

    def bound(self, solved: float) -> int:
        """Convert a solver's bound on this stage into a bound on the whole objective."""
        return self.constant + self._least_rest + self.unit * self._steps(solved)

    def next(self, solved: float, value: int) -> "_Stage":
        """Return the next stage, with smaller units, which contains only points that may improve on `value`."""
        least = self._steps(solved)
        most = (value - self.constant - self._least_rest) // self.unit
        size, form = len(self.costs), self.form
        above = csr_array(([-1.0], ([0], [0])), shape=(1, 1))
        row = csr_array(np.array([[float(cost) for cost in self._coarse]]))
        number = len(form.rows)
        wider = replace(
            form,
            cost=np.append(form.cost, 0.0),
            matrix=csr_array(
                vstack([hstack([form.matrix, csr_array((number, 1))]), hstack([row, above])], format="csr")
            ),
            row_lower=np.append(form.row_lower, float(least)),
            row_upper=np.append(form.row_upper, float(least)),
            column_lower=np.append(form.column_lower, 0.0),
            column_upper=np.append(form.column_upper, float(most - least)),
            integer=np.append(form.integer, True),
            columns=(*form.columns, f"above[{size}]"),
            rows=(*form.rows, f"stage[{number}]"),
        )
        costs = [*(cost % self.unit for cost in self.costs), self.unit if most > least else 0]
        return _Stage(wider, costs, self.constant + self.unit * least, _unit(costs))

    def lifted(self, point: Vector) -> Vector:
        """Extend a point of the first stage by the columns of later stages, using the rows that define them."""
        values = point
        added = len(self.costs) - point.size
        for row in range(len(self.form.rows) - added, len(self.form.rows)):
            entries = self.form.matrix[[row], : values.size]
            values = np.append(values, (entries @ values)[0] - self.form.row_lower[row])
        return values

    @property
    def _coarse(self) -> list[int]:
        return [cost // self.unit for cost in self.costs]

    @property
    def _factor(self) -> float:
        """Power of two by which coefficients are multiplied so that they are at most `LARGEST_COST`."""
        largest = max(map(abs, self._coarse), default=0)
        return 2.0 ** -max(0, ceil(log2(largest / LARGEST_COST)) if largest else 0)

    @property
    def _least_rest(self) -> int:
        """Minimum total cost of the remainders that this stage ignores."""
        rests = (
            (cost % self.unit, lower) for cost, lower in zip(self.costs, self.form.column_lower, strict=True)
        )
        return sum(rest * ceil(lower) for rest, lower in rests if rest and lower)

    def _steps(self, solved: float) -> int:
        """Round a solver's bound up to the integer number of units that it implies."""
        slack = min(STEP_PART, SOLVER_BOUND / self._factor)
        return ceil(solved / self._factor - slack)


def _unit(costs: Sequence[int]) -> int:
    """Return the unit of a stage with the given costs, which is 1 if solvers can handle the costs unchanged."""
    largest = max(map(abs, costs), default=0)
    return 1 if largest <= _LARGEST_WHOLE else -(-largest // _LARGEST_IN_ROW)


def _gap_without(constant: Exact, costs: Sequence[Exact], form: StandardForm, gap: float) -> float:
    """Return a gap for the objective without its constant that implies the given gap for the whole objective.

    With the constant c, the gap to a bound b is relative to b + c. The gap is therefore multiplied by the
    smallest ratio of b + c to b, over all b that the column bounds allow. It is 0 if b + c may be 0.
    """
    if not gap or not constant:
        return gap
    limits = zip(costs, form.column_lower.tolist(), form.column_upper.tolist(), strict=True)
    ends = [sorted((float(cost) * lower, float(cost) * upper)) for cost, lower, upper in limits if cost]
    low, high, moved = sum(end[0] for end in ends), sum(end[1] for end in ends), float(constant)
    if low < 0 < high or not all(map(isfinite, (moved, low if low >= 0 else high))):
        return 0.0
    nearest, moved = (low, moved) if low >= 0 else (-high, -moved)
    if moved >= 0:
        return gap
    return gap * max(nearest + moved, 0.0) / nearest if nearest else 0.0


def _solve(
    form: StandardForm,
    budget: Budget,
    start: Vector | None,
    on_point: OnPoint | None,
    on_bound: Callable[[float], object] | None,
) -> Outcome:
    def hear(incumbent: Incumbent) -> object:
        return None if on_point is None else on_point(incumbent.values, incumbent.bound)

    solver = solver_of(budget)
    heard = on_bound is not None and accepts(solver.solve, "on_bound")
    told: dict[str, Any] = {"on_bound": on_bound} if heard else {}
    return solver.solve(
        form,
        time_limit=budget.left(),
        gap=budget.gap,
        start=start,
        on_incumbent=None if on_point is None else hear,
        log=budget.log,
        **told,
    )


def _proof(outcome: Outcome, bound: Number | None) -> Proof:
    return Proof(outcome.status, outcome.values, bound, outcome.stopped_by, outcome.solver, outcome.message)
