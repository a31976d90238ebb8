"""Configuration: exact methods for choosing a configuration for each job."""

from formulations.configuration.exact import exact
from formulations.configuration.milp import milp

__all__ = ["exact", "milp"]
