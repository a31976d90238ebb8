"""Admission: exact methods for evicting or moving running gangs so that pending gangs fit."""

from formulations.admission.exact import exact
from formulations.admission.milp import milp

__all__ = ["exact", "milp"]
