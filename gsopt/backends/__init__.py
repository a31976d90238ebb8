"""The solvers. Each runs in a worker process of its own; none is imported before it is used."""

from gsopt.backends.base import Backend, Incumbent, Outcome
from gsopt.backends.cp_sat import CpSat
from gsopt.backends.highs import Highs
from gsopt.backends.process import close
from gsopt.backends.scip import Scip

#: Every backend, in the order of preference.
SOLVERS = (Highs, CpSat, Scip)

__all__ = ["SOLVERS", "Backend", "CpSat", "Highs", "Incumbent", "Outcome", "Scip", "close"]
