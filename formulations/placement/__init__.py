"""Placement: exact methods for placing workers on servers."""

from formulations.placement.buckets import buckets
from formulations.placement.column_generation import column_generation
from formulations.placement.exact import exact
from formulations.placement.milp import milp
from formulations.placement.patterns import patterns
from formulations.placement.racks import racks
from formulations.placement.search import search

__all__ = ["buckets", "column_generation", "exact", "milp", "patterns", "racks", "search"]
