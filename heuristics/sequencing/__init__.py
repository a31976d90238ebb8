"""Sequencing: heuristics that order single-GPU jobs on machines of several types."""

from heuristics.sequencing.earliest_end import earliest_end
from heuristics.sequencing.free_machines import free_machines

__all__ = ["earliest_end", "free_machines"]
