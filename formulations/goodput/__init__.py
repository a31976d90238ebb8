"""Exact methods for goodput."""

from formulations.goodput.exact import exact
from formulations.goodput.milp import milp

__all__ = ["exact", "milp"]
