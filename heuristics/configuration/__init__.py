"""Heuristics for configuration."""

from heuristics.configuration.greedy import greedy

__all__ = ["greedy"]
