"""Pollux: a policy that divides GPUs among adaptive jobs by their goodput, at intervals."""

from heuristics.policies.pollux.policy import pollux

__all__ = ["pollux"]
