"""Consolidation: exact methods for placing jobs close together on free GPUs."""

from formulations.consolidation.counts import counts
from formulations.consolidation.divisible import divisible
from formulations.consolidation.exact import exact
from formulations.consolidation.laminar import laminar
from formulations.consolidation.patterns import patterns

__all__ = ["counts", "divisible", "exact", "laminar", "patterns"]
