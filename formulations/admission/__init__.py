"""Exact methods for admission."""

from formulations.admission.exact import exact
from formulations.admission.milp import milp

__all__ = ["exact", "milp"]
