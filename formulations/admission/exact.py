"""Exact: for now the mixed-integer program."""

from formulations.admission.milp import milp
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.result import Result
from gsopt.problems.admission import Admission, AdmissionSolution


@exact_method()
def exact(problem: Admission, budget: Budget) -> Result[AdmissionSolution]:
    """Solve a problem to proven optimality.

    Examples
    --------
    >>> import gsopt
    >>> exact(gsopt.load("admission/small/move-one")).objective
    Fraction(1, 2)
    """
    return milp(problem, budget=budget)
