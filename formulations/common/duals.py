"""Duals: bounds that dual values prove, no matter where these values come from or how accurate they are."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.numbers.tolerances import TERM
from gsopt.solvers.backends.highs import Model

Reals = NDArray[np.float64]


class DualProof(NamedTuple):
    """The lower bound and the reduced costs that dual values prove for a linear program."""

    bound: float  # lower bound on its optimum
    reduced: Reals  # increase of the bound per unit of each column, shape (columns,)


def prove(model: Model, duals: Reals, largest: Reals) -> DualProof:
    """Return the bound and the reduced costs that the given dual values prove.

    For any row prices y, c x = y A x + (c - y A) x for all x. The row limits bound the first term from below,
    and the column limits bound the second one. So the bound holds for any y, regardless of the solver's
    tolerance. The maximum possible rounding error is subtracted. A price counts as 0 if its row has no limit on
    the side to which the price's sign refers. `largest` gives, for each column, a finite upper limit on its
    value in every solution that matters. Integrality is ignored.
    """
    limits = np.where(duals > 0, model.row_lower, model.row_upper)
    prices = np.where(np.isfinite(limits), duals, 0.0)
    rows = prices * np.where(np.isfinite(limits), limits, 0.0)
    entries = model.coefficients * np.repeat(prices, np.diff(model.starts))
    size = model.cost.size
    reduced = model.cost - np.bincount(model.indices, weights=entries, minlength=size)
    upper = np.minimum(model.column_upper, largest)
    columns = np.where(reduced > 0, reduced * model.column_lower, reduced * upper)
    bound = float(rows.sum() + columns.sum()) + model.offset
    terms = np.abs(model.cost) + np.bincount(model.indices, weights=np.abs(entries), minlength=size)
    largest_sum = np.abs(rows).sum() + terms @ np.maximum(np.abs(model.column_lower), np.abs(upper))
    rounding = np.finfo(np.float64).eps * (rows.size + size) * float(largest_sum + abs(model.offset))
    return DualProof(bound - float(rounding), reduced)


def bound_by_total(cost: Reals, matrix: Reals, limits: Reals, duals: Reals, *, total: float) -> float:
    """Return the lower bound implied by the row prices if the columns add up to at most `total`.

    All columns are non-negative. `limits` holds, for each row, the limit on the side that its price refers to,
    or the right-hand side of an equation. The price of an equation may have either sign; any other price must
    have the sign that matches its limit.
    """
    rounding = TERM * (limits.size + 4)
    reduced = cost - duals @ matrix
    least = float((reduced - rounding * (np.abs(cost) + np.abs(duals) @ np.abs(matrix))).min(initial=0.0))
    worth = float(duals @ limits) - rounding * float(np.abs(duals) @ np.abs(limits))
    return worth + least * total * (1 + rounding)
