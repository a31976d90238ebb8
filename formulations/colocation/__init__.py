"""Colocation: exact methods for pairing pending jobs with running jobs that share their GPUs."""

from formulations.colocation.assignment import assignment
from formulations.colocation.exact import exact
from formulations.colocation.matching import matching
from formulations.colocation.milp import milp

__all__ = ["assignment", "exact", "matching", "milp"]
