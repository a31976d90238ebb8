"""Configuration: heuristics that choose the GPU type and GPU count of each job."""

from heuristics.configuration.greedy import greedy
from heuristics.configuration.pop import pop

__all__ = ["greedy", "pop"]
