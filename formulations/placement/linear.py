"""Linear: small linear programs, solved in this process.

They take milliseconds, and hundreds of them in a row prove nothing by themselves: every bound is recomputed
from their prices. Another process would take longer to be told of them than to solve them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from formulations.placement.packing import Reals
from gsopt.budget import Budget
from gsopt.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class Optimum:
    """Optimum of a linear program.

    Attributes
    ----------
    values
        One value per column, shape (columns,).
    duals
        Change of the objective per unit of each row's limit, shape (rows,).
    objective
        Value.
    """

    values: Reals
    duals: Reals
    objective: float


def solve_relaxation(form: StandardForm, budget: Budget) -> Optimum | None:
    """Minimize over the linear relaxation of a standard form; None where no optimum is found in time.

    Examples
    --------
    >>> form = StandardForm.build(cost=[1], matrix=[[2]], row_lower=[3], row_upper=[np.inf])
    >>> optimum = solve_relaxation(form, Budget())
    >>> optimum.objective, optimum.duals
    (1.5, array([0.5]))
    """
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    left = budget.left()
    options: dict[str, Any] = {"output_flag": False, "threads": 1, "solver": "simplex"}
    for option, value in (options | ({} if left is None else {"time_limit": left})).items():
        solver.setOptionValue(option, value)
    rows, columns = form.matrix.shape
    matrix = csc_array(form.matrix)
    nothing = np.zeros(0, dtype=np.int32)
    solver.addRows(
        rows, form.row_lower, form.row_upper, 0, np.zeros(rows, dtype=np.int32), nothing, np.zeros(0)
    )
    solver.addCols(
        columns,
        form.cost,
        form.column_lower,
        form.column_upper,
        matrix.nnz,
        matrix.indptr[:-1].astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data,
    )
    solver.run()
    if solver.getModelStatus().name != "kOptimal":
        return None
    solution = solver.getSolution()
    objective = solver.getInfo().objective_function_value + form.offset
    return Optimum(np.array(solution.col_value), np.array(solution.row_dual), objective)
