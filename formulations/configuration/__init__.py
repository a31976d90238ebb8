"""Exact methods for configuration."""

from formulations.configuration.exact import exact
from formulations.configuration.milp import milp

__all__ = ["exact", "milp"]
