"""Heuristics for admission."""

from heuristics.admission.cheapest_first import cheapest_first

__all__ = ["cheapest_first"]
