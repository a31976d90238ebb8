"""Sia: a policy that chooses the GPU types and GPU counts of all jobs jointly, at intervals."""

from heuristics.policies.sia.policy import sia

__all__ = ["sia"]
