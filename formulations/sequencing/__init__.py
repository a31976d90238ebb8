"""Sequencing: exact methods for ordering jobs on machines."""

from formulations.sequencing.exact import exact
from formulations.sequencing.milp import milp
from formulations.sequencing.paths import paths

__all__ = ["exact", "milp", "paths"]
