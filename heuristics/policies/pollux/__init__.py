"""Pollux: any numbers of GPUs on any machines, changed whenever jobs gain from it."""

from heuristics.policies.pollux.policy import pollux

__all__ = ["pollux"]
