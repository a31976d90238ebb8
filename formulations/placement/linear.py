"""Linear: small linear programs that are solved within this process.

Solving one takes milliseconds, less than passing it to another process would. The results need not be exact,
because every bound is recomputed from the duals or reduced by a tolerance.
"""

from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.sparse import vstack

from formulations.placement.packing import Reals
from gsopt.core.budget import Budget
from gsopt.solvers.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class Optimum:
    """The optimum of a linear program."""

    values: Reals  # values of the columns, shape (columns,)
    duals: Reals  # change of the objective per unit of each row's limit, shape (rows,)
    objective: float


def solve_relaxation(form: StandardForm, budget: Budget) -> Optimum | None:
    """Solve the linear relaxation of a model; return None if no optimum is found in time."""
    from scipy.optimize import linprog

    left = budget.left()
    if not form.cost.size:
        feasible = form.violation([]) == 0
        return Optimum(np.zeros(0), np.zeros(form.row_lower.size), form.offset) if feasible else None
    above, below = np.isfinite(form.row_lower), np.isfinite(form.row_upper)
    found = linprog(
        form.cost,
        A_ub=vstack([-form.matrix[above], form.matrix[below]], format="csr"),
        b_ub=np.append(-form.row_lower[above], form.row_upper[below]),
        bounds=list(zip(form.column_lower.tolist(), form.column_upper.tolist(), strict=True)),
        method="highs-ds",
        options={"time_limit": inf if left is None else left},
    )
    if found.x is None or found.fun is None or found.status != 0:
        return None
    duals = np.zeros(form.row_lower.size)
    rises = found.ineqlin.marginals
    duals[above] -= rises[: above.sum()]
    duals[below] += rises[above.sum() :]
    return Optimum(found.x, duals, float(found.fun) + form.offset)
