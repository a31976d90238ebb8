"""Colocation: exact methods for pairing pending jobs with the running jobs whose GPUs they share."""

from formulations.colocation.assignment import assignment
from formulations.colocation.exact import exact
from formulations.colocation.matching import matching
from formulations.colocation.milp import milp

__all__ = ["assignment", "exact", "matching", "milp"]
