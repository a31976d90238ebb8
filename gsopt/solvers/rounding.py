"""Rounding: costs that replace rounded floats, so that bounds hold for the exact objective."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact, Number, decimal, floor_digits
from gsopt.core.numbers.tolerances import ROUNDED_COST
from gsopt.core.problem import Sense
from gsopt.solvers.standard_form import StandardForm

#: Number of significant decimal digits that every float preserves.
_DECIMAL_DIGITS = 15

#: Number of digits of a cost that replaces a rounded one: enough to respect `ROUNDED_COST`, and few enough for
#: solvers.
_DIGITS = 13


def valid_costs(form: StandardForm) -> Sequence[Number]:
    """Return costs that are at least as good as the exact ones, which the form may state as rounded floats.

    No solution is worse under these costs than under the exact ones, so a bound for these costs also holds for
    the exact ones. A float with at most 15 significant digits is taken to be exact. If a continuous column has
    a cost, all costs are returned unchanged, because bounds on such objectives are loosened later, by more than
    the rounding errors.

    Raises
    ------
    Unsupported
        A column with a rounded cost may be negative as well as positive.

    Examples
    --------
    >>> form = StandardForm.build(cost=[0.1, 2 / 3], matrix=[[1, 1]], row_lower=[1], row_upper=[1])
    >>> valid_costs(form)
    [0.1, Fraction(6666666666659, 10000000000000)]
    """
    costs: list[Number] = form.cost.tolist()
    if not np.all(form.integer[form.cost != 0]):
        return costs
    for index in np.flatnonzero([is_rounded(cost) for cost in form.cost.tolist()]).tolist():
        if form.column_lower[index] >= 0:
            costs[index] = _improved(costs[index], form.sense)
        elif form.column_upper[index] <= 0:
            costs[index] = -_improved(-costs[index], form.sense)
        else:
            raise Unsupported(
                f"column {form.columns[index]}: its cost {costs[index]} is a rounded number: "
                "must be given by exact_costs if the column has both signs"
            )
    return costs


def valid_offset(form: StandardForm) -> Number:
    """Return an objective constant at least as good as the exact one, which the form may have rounded."""
    return _improved(form.offset, form.sense) if is_rounded(form.offset) else form.offset


def is_rounded(value: float) -> bool:
    """Check whether a float needs more than 15 significant digits, so that it is probably a rounded number.

    Examples
    --------
    >>> is_rounded(0.1), is_rounded(1 / 3), is_rounded(0.1 + 0.2)
    (False, True, True)
    """
    return float(f"{value:.{_DECIMAL_DIGITS}g}") != value


def _improved(cost: Number, sense: Sense) -> Exact:
    """Return a cost that is better than a rounded one by slightly more than the rounding error."""
    exact = Fraction(decimal(cost))
    error = ROUNDED_COST * abs(exact)
    if sense is Sense.MINIMIZE:
        return floor_digits(exact - error, _DIGITS)
    return -floor_digits(-exact - error, _DIGITS)
