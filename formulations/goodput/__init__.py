"""Goodput: exact methods for allocating GPUs by goodput."""

from formulations.goodput.exact import exact
from formulations.goodput.milp import milp

__all__ = ["exact", "milp"]
