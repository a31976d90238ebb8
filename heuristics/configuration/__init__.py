"""Configuration: heuristics that choose the GPU type and GPU count of each job."""

from heuristics.configuration.greedy import greedy

__all__ = ["greedy"]
