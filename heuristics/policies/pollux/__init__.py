"""Pollux: goodput-optimized GPUs for adaptive jobs, changed whenever jobs gain from it."""

from heuristics.policies.pollux.policy import pollux

__all__ = ["pollux"]
