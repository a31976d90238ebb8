"""Allocation: exact methods for allocating extra workers to elastic jobs."""

from formulations.allocation.bundling import bundling
from formulations.allocation.core import core
from formulations.allocation.dp import dp
from formulations.allocation.exact import exact
from formulations.allocation.milp import milp

__all__ = ["bundling", "core", "dp", "exact", "milp"]
