"""CP-SAT: a solver for integer programs, based on clause learning."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf, lcm
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.errors import Unsupported, require
from gsopt.core.numbers.tolerances import FEASIBILITY, LIMIT_NOISE, LIMIT_PART
from gsopt.core.problem import Sense
from gsopt.core.result import Status, gap_by_value
from gsopt.solvers.backends.base import Answer, Ending, OnBound, Outcome, Solver, Vector
from gsopt.solvers.backends.following import solve_followed

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink
    from gsopt.solvers.standard_form import StandardForm

Integers = NDArray[np.int64]

#: Distance from 0, or from its other bound, to which a column is limited if the rows imply no bound.
CLAMP = 10**9

_LARGEST = 2**62  # sums must stay within 64 bits
_DIGITS = 12  # of an objective that must be rounded
_ROUNDS = 5  # of deriving bounds from rows
_EXACT = 2**53  # integers beyond are no longer exact as floats


class IntegerTask(NamedTuple):
    """An integer program with integer data, and CP-SAT's parameters.

    The objective is ``(offset + cost @ x) / scale``, up to `error`.
    """

    maximize: bool
    scale: int
    offset: int
    error: float
    cost: Integers
    column_lower: Integers
    column_upper: Integers
    row_lower: Integers
    row_upper: Integers
    starts: NDArray[np.int32]
    indices: NDArray[np.int32]
    coefficients: Integers
    start: Vector | None
    parameters: dict[str, Any]

    def bound(self, scaled: float) -> float:
        """Convert a bound on the scaled objective into one on the model's objective."""
        return scaled / self.scale + (self.error if self.maximize else -self.error)


@dataclass(frozen=True)
class CpSat(Solver):
    """CP-SAT, a clause-learning solver, which suits models with many binary columns and no big-M constraints.

    Every column must be integer. Each row and the objective are scaled to integers by the common denominator of
    their decimal numbers. An objective with too many digits for 64 bits is rounded, and its bound is weakened
    by the largest possible rounding error. A missing bound of a column is derived from the rows. If none is
    found, the column may be at most `CLAMP` (10^9) away from 0 or from its other bound. In this case,
    optimality is claimed only if the objective rules out all points beyond that, and infeasibility is never
    claimed.

    Attributes
    ----------
    threads
        Number of CP-SAT's workers in one solve. A single worker usually proves optimality fastest. Two
        workers are not allowed.
    seed
        Seed of the solver's random choices.
    linearization_level
        How much of the model the linear relaxation contains, from 0 to 2.

    Examples
    --------
    >>> from gsopt.solvers.standard_form import StandardForm
    >>> form = StandardForm.build(cost=[1, 1], matrix=[[2, 1]], row_lower=[3], row_upper=[4])
    >>> outcome = CpSat().solve(form)
    >>> outcome.status, outcome.objective, outcome.bound
    (<Status.OPTIMAL: 'optimal'>, 2.0, 2.0)
    """

    name: ClassVar[str] = "cp-sat"
    package: ClassVar[str] = "ortools"
    module: ClassVar[str] = "ortools.sat.python.cp_model"
    endings: ClassVar[Mapping[str, Ending]] = {
        "OPTIMAL": Ending.OPTIMAL,
        "INFEASIBLE": Ending.INFEASIBLE,
        "FEASIBLE": Ending.TIME_LIMIT,  # an interrupt is known to whoever asked for it
        "UNKNOWN": Ending.TIME_LIMIT,
    }

    threads: int = 1
    seed: int = 0
    linearization_level: int = 2

    def __post_init__(self) -> None:
        require(self.threads in {1, *range(3, 1025)}, "threads", self.threads, "must be 1, or 3 and more")
        require(self.seed >= 0, "seed", self.seed, "must be at least 0")

    def solve(self, form: "StandardForm", *, on_bound: OnBound | None = None, **options: Any) -> Outcome:
        """Solve a model in standard form, with the options of `Backend.solve`.

        Raises
        ------
        Unsupported
            A column is continuous, a row or the objective does not fit into 64-bit integers, or a column of
            the solution found is at a limit that `CLAMP` imposes.
        """
        _refuse_continuous(form)
        known = form.with_bounds(*implied_bounds(form))
        clamped = _clamped(known)
        outcome = super().solve(clamped, on_bound=on_bound if clamped is known else None, **options)
        return outcome if clamped is known else _beyond_clamps(outcome, known, clamped)

    def request(
        self, form: "StandardForm", *, time_limit: float | None, gap: float, start: Vector | None
    ) -> tuple[Callable[[Any, "ParentLink"], Answer], IntegerTask]:
        """Return the function that solves the model in integers, and the task to pass to it."""
        magnitude = np.maximum(np.maximum(-form.column_lower, form.column_upper), 1.0)
        offset, cost, scale, error = _whole_objective(form, magnitude)
        coefficients, row_lower, row_upper = _whole_rows(form, magnitude)
        parameters = {
            "num_workers": self.threads,
            "random_seed": self.seed,
            "linearization_level": self.linearization_level,
            "relative_gap_limit": gap_by_value(gap),
            "log_search_progress": True,
            "log_to_stdout": False,
            "catch_sigint_signal": False,
        }
        if time_limit is not None:
            parameters["max_time_in_seconds"] = float(time_limit)
        return optimize, IntegerTask(
            maximize=form.sense is Sense.MAXIMIZE,
            scale=scale,
            offset=offset,
            error=error,
            cost=cost,
            column_lower=np.ceil(form.column_lower - LIMIT_NOISE).astype(np.int64),
            column_upper=np.floor(form.column_upper + LIMIT_NOISE).astype(np.int64),
            row_lower=row_lower,
            row_upper=row_upper,
            starts=form.matrix.indptr,
            indices=form.matrix.indices,
            coefficients=coefficients,
            start=start,
            parameters=parameters,
        )


def optimize(task: IntegerTask, link: "ParentLink") -> Answer:
    """Solve a model. This function runs in the worker."""
    from ortools.sat.python.cp_model import CpModel

    if (task.column_lower > task.column_upper).any() or (task.row_lower > task.row_upper).any():
        return Answer("INFEASIBLE")  # CP-SAT calls an empty domain an invalid model
    model = CpModel()
    columns = _post(model, task)

    def point(value: Callable[[Any], int]) -> Vector:
        return np.fromiter(map(value, columns), np.float64, len(columns))

    status, values, proven = solve_followed(model, task.parameters, link, point, task.bound)
    return Answer(status) if proven is None else Answer(status, values, proven)


def _post(model: Any, task: IntegerTask) -> list[Any]:
    """Build CP-SAT's own model and return its variables."""
    from ortools.sat.python.cp_model import LinearExpr

    domains = zip(task.column_lower.tolist(), task.column_upper.tolist(), strict=True)
    columns = [model.new_int_var(lower, upper, "") for lower, upper in domains]
    indices, coefficients, starts = task.indices.tolist(), task.coefficients.tolist(), task.starts.tolist()
    limits = zip(task.row_lower.tolist(), task.row_upper.tolist(), strict=True)
    for first, last, (lower, upper) in zip(starts, starts[1:], limits, strict=False):
        used = [columns[index] for index in indices[first:last]]
        model.add_linear_constraint(LinearExpr.weighted_sum(used, coefficients[first:last]), lower, upper)
    objective = LinearExpr.weighted_sum(columns, task.cost.tolist()) + task.offset
    if task.maximize:
        model.maximize(objective)
    else:
        model.minimize(objective)
    if task.start is not None:
        for index in np.flatnonzero(np.isfinite(task.start)).tolist():
            hint = min(max(task.start[index], task.column_lower[index]), task.column_upper[index])
            model.add_hint(columns[index], round(hint))
    return columns


def implied_bounds(form: "StandardForm") -> tuple[Vector, Vector]:
    """Return the bounds of integer columns, with missing ones derived in a few passes over the rows.

    Bounds that these passes do not find remain infinite.
    """
    lower, upper = form.column_lower.copy(), form.column_upper.copy()
    for _ in range(_ROUNDS):
        missing = ~np.isfinite(lower) | ~np.isfinite(upper)
        rows = np.unique(form.matrix[:, missing].nonzero()[0])
        known = np.isfinite(lower).sum() + np.isfinite(upper).sum()
        for row in rows:
            _tighten(form, row, lower, upper)
        if np.isfinite(lower).sum() + np.isfinite(upper).sum() == known:
            break
    return lower, upper


def _tighten(form: "StandardForm", row: int, lower: Vector, upper: Vector) -> None:
    """Derive missing bounds on columns from one row, given the ranges of the other columns in it."""
    part = slice(form.matrix.indptr[row], form.matrix.indptr[row + 1])
    columns, weights = form.matrix.indices[part], form.matrix.data[part]
    columns, weights = columns[weights != 0], weights[weights != 0]
    low, high, up = lower[columns], upper[columns], weights > 0
    room = form.row_upper[row] - _sums_of_others(np.where(up, weights * low, weights * high), -inf)
    need = form.row_lower[row] - _sums_of_others(np.where(up, weights * high, weights * low), inf)
    most, least = np.where(up, room, need) / weights, np.where(up, need, room) / weights
    upper[columns] = np.where(np.isfinite(high), high, np.floor(most + FEASIBILITY))
    lower[columns] = np.where(np.isfinite(low), low, np.ceil(least - FEASIBILITY))


def _sums_of_others(terms: Vector, infinity: float) -> Vector:
    """Return, for each term, the sum of all other terms, or `infinity` if one of these is infinite."""
    infinite = np.isinf(terms)
    finite = np.where(infinite, 0.0, terms)
    return np.array(np.where(infinite.sum() > infinite, infinity, finite.sum() - finite))


def _refuse_continuous(form: "StandardForm") -> None:
    continuous = np.flatnonzero(~form.integer)
    if continuous.size:
        name = form.columns[continuous[0]]
        more = f" (and {continuous.size - 1} more)" if continuous.size > 1 else ""
        raise Unsupported(f"cp-sat: column {name}{more} is continuous: CP-SAT takes integers only")


def _clamped(form: "StandardForm") -> "StandardForm":
    """Return a form with bounds at `CLAMP` on all columns that lack bounds.

    If there are no such columns, the form itself is returned.
    """
    low, high = form.column_lower < -_EXACT, form.column_upper > _EXACT
    if not (low | high).any():
        return form
    lower = np.where(low, np.minimum(form.column_upper, 0) - CLAMP, form.column_lower)
    upper = np.where(high, np.maximum(form.column_lower, 0) + CLAMP, form.column_upper)
    return form.with_bounds(lower, upper)


def _beyond_clamps(outcome: Outcome, known: "StandardForm", clamped: "StandardForm") -> Outcome:
    """Return the outcome, without the proof if a point beyond the clamps might be better than the solution."""
    low = known.column_lower != clamped.column_lower
    high = known.column_upper != clamped.column_upper
    if outcome.values is None:
        message = f"{outcome.message}: within {CLAMP:,} for columns that have no bound"
        return replace(outcome, status=Status.UNKNOWN, bound=None, message=message)
    at_clamp = (low & (outcome.values <= clamped.column_lower)) | (
        high & (outcome.values >= clamped.column_upper)
    )
    if at_clamp.any():
        name = known.columns[at_clamp.argmax()]
        raise Unsupported(f"cp-sat: column {name} has no bound and runs to {CLAMP:,}: give it one")
    if _least_beyond(known, clamped, low, high) >= _signed_cost(known) @ outcome.values - FEASIBILITY:
        return outcome
    message = f"{outcome.message}: proven only within {CLAMP:,} for columns that have no bound"
    return replace(outcome, status=Status.FEASIBLE, bound=None, message=message)


def _least_beyond(
    known: "StandardForm", clamped: "StandardForm", low: NDArray[np.bool_], high: NDArray[np.bool_]
) -> float:
    """Return a lower bound, from column bounds alone, on the cost of any point beyond a clamp."""
    cost = _signed_cost(known)
    with np.errstate(invalid="ignore"):  # 0 * inf, which the outer choice leaves out
        least = np.where(cost == 0, 0.0, cost * np.where(cost > 0, known.column_lower, known.column_upper))
    others = _sums_of_others(least, -inf)
    above = others + np.where(cost >= 0, cost * (clamped.column_upper + 1), -inf)
    below = others + np.where(cost <= 0, cost * (clamped.column_lower - 1), -inf)
    return float(min(above[high].min(initial=inf), below[low].min(initial=inf)))


def _signed_cost(form: "StandardForm") -> Vector:
    return form.cost if form.sense is Sense.MINIMIZE else -form.cost


def _whole_objective(form: "StandardForm", magnitude: Vector) -> tuple[int, Integers, int, float]:
    """Return the objective's offset and costs as integers, their scale, and the largest rounding error."""
    numbers = [*form.cost.tolist(), float(form.offset)]
    size = float(np.abs(form.cost) @ magnitude) + abs(form.offset)
    whole, scale = _over_common_denominator(numbers)
    error = 0.0
    if scale * size > _LARGEST:
        scale = 10**_DIGITS
        while scale > 1 and scale * size > _LARGEST:
            scale //= 10
        whole = [round(Fraction(number) * scale) for number in numbers]
        error = (float(magnitude.sum()) + 1) / 2 / scale
    if scale * size > _LARGEST:
        raise Unsupported("cp-sat: the objective does not fit into 64-bit integers")
    return whole[-1], np.array(whole[:-1], dtype=np.int64), scale, error


def _whole_rows(form: "StandardForm", magnitude: Vector) -> tuple[Integers, Integers, Integers]:
    """Return the coefficients and limits of all rows as integers, with a separate scale for each row."""
    data, starts = form.matrix.data, form.matrix.indptr
    sizes = abs(form.matrix) @ magnitude
    _refuse_large(form, sizes)
    least, most = form.row_lower - _noise(form.row_lower), form.row_upper + _noise(form.row_upper)
    lower, upper = _within(np.ceil(least)), _within(np.floor(most))
    coefficients = data.astype(np.int64)
    row_of_entry = np.repeat(np.arange(sizes.size), np.diff(starts))
    for row in np.unique(row_of_entry[data != coefficients]).tolist():
        part = slice(starts[row], starts[row + 1])
        whole, scale = _over_common_denominator(data[part].tolist())
        sizes[row] *= scale
        _refuse_large(form, sizes)
        coefficients[part] = whole
        if np.isfinite(least[row]):
            lower[row] = max(ceil(Fraction(least[row]) * scale), -_LARGEST)
        if np.isfinite(most[row]):
            upper[row] = min(floor(Fraction(most[row]) * scale), _LARGEST)
    return coefficients, lower, upper


def _refuse_large(form: "StandardForm", sizes: Vector) -> None:
    if sizes.max(initial=0.0) > _LARGEST:
        raise Unsupported(f"cp-sat: row {form.rows[sizes.argmax()]} does not fit into 64-bit integers")


def _noise(limits: Vector) -> Vector:
    """Return the largest rounding error of a limit that was computed with floats."""
    return np.minimum(LIMIT_NOISE + LIMIT_PART * np.abs(limits), 0.5)


def _within(limits: Vector) -> Integers:
    return np.clip(limits, -_LARGEST, _LARGEST).astype(np.int64)


def _over_common_denominator(numbers: list[float]) -> tuple[list[int], int]:
    """Return decimal numbers as integers over their common denominator."""
    if all(number.is_integer() for number in numbers):
        return [int(number) for number in numbers], 1
    exact = [Fraction(repr(number)) for number in numbers]
    scale = lcm(*(number.denominator for number in exact))
    return [int(number * scale) for number in exact], scale
