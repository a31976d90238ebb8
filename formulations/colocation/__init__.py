"""Exact methods for colocation."""

from formulations.colocation.assignment import assignment
from formulations.colocation.exact import exact
from formulations.colocation.matching import matching
from formulations.colocation.milp import milp

__all__ = ["assignment", "exact", "matching", "milp"]
