"""Standard forms in one line."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gsopt.solvers.standard_form import StandardForm

#: A lower and an upper limit, each for all rows or columns, or one for each.
Limits = tuple[ArrayLike, ArrayLike]


def standard_form(
    cost: ArrayLike,
    matrix: Any,
    rows: Limits,
    columns: Limits = (0, np.inf),
    integer: ArrayLike = True,
    **more: Any,
) -> StandardForm:
    """Build a form; its columns are non-negative integers unless told otherwise."""
    height, width = np.shape(matrix)
    row_lower, row_upper = (np.broadcast_to(limit, height) for limit in rows)
    column_lower, column_upper = (np.broadcast_to(limit, width) for limit in columns)
    return StandardForm.build(
        cost=cost,
        matrix=matrix,
        row_lower=row_lower,
        row_upper=row_upper,
        column_lower=column_lower,
        column_upper=column_upper,
        integer=np.broadcast_to(integer, width),
        **more,
    )
