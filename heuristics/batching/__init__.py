"""Heuristics for batching."""

from heuristics.batching.evolution import evolution

__all__ = ["evolution"]
