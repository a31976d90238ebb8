"""Heuristics for configuration."""

from heuristics.configuration.greedy import greedy
from heuristics.configuration.pop import pop

__all__ = ["greedy", "pop"]
