"""Sia: the configurations of all jobs are decided together, at intervals."""

from heuristics.policies.sia.policy import sia

__all__ = ["sia"]
