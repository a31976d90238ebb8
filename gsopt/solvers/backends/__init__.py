"""Backends: the solvers, each imported on first use and run in worker processes of its own."""

from gsopt.core.budget import Budget
from gsopt.solvers.backends.base import Backend, Incumbent, Outcome
from gsopt.solvers.backends.cp_sat import CpSat
from gsopt.solvers.backends.highs import Highs
from gsopt.solvers.backends.process import close
from gsopt.solvers.backends.scip import Scip

#: Every backend, in descending order of preference.
SOLVERS = (Highs, CpSat, Scip)

__all__ = ["SOLVERS", "Backend", "CpSat", "Highs", "Incumbent", "Outcome", "Scip", "close", "solver_of"]


def solver_of(budget: Budget) -> Backend:
    """Return the backend that a budget names, or HiGHS if it names none.

    Examples
    --------
    >>> solver_of(Budget()), solver_of(Budget(backend=CpSat())).name
    (Highs(threads=1, seed=0), 'cp-sat')
    """
    chosen: Backend = budget.backend or Highs()
    return chosen
