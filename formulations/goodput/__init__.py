"""Goodput: exact methods that allocate GPUs to jobs by goodput."""

from formulations.goodput.exact import exact
from formulations.goodput.milp import milp

__all__ = ["exact", "milp"]
