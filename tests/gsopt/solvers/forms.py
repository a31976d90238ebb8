"""Standard forms in one line."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gsopt.solvers.standard_form import StandardForm, Vector


def standard_form(
    cost: ArrayLike,
    matrix: Any,
    limits: tuple[ArrayLike, ArrayLike],
    bounds: tuple[ArrayLike, ArrayLike] = (0, np.inf),
    *,
    integer: ArrayLike = True,
    **more: Any,
) -> StandardForm:
    """Build a form; a lower or upper limit, or whether a column is an integer, may be one value for all."""
    rows, columns = np.shape(matrix)
    return StandardForm.build(
        cost=cost,
        matrix=matrix,
        row_lower=np.broadcast_to(limits[0], rows),
        row_upper=np.broadcast_to(limits[1], rows),
        column_lower=np.broadcast_to(bounds[0], columns),
        column_upper=np.broadcast_to(bounds[1], columns),
        integer=np.broadcast_to(integer, columns),
        **more,
    )


def limits_around(middle: Any, widths: Any, some: np.random.Generator) -> tuple[Vector, Vector]:
    """Return lower and upper limits at these distances from the middle; two in five are infinite."""
    lower, upper = middle - widths[0], middle + widths[1]
    absent = some.random((2, len(middle))) < 0.4
    return np.where(absent[0], -np.inf, lower), np.where(absent[1], np.inf, upper)
