"""Sia: a policy that decides the configurations of all jobs together, at intervals."""

from heuristics.policies.sia.policy import sia

__all__ = ["sia"]
