"""Optimus: the policies Optimus and AFS, which grant GPUs one by one, based on remaining times."""

from heuristics.policies.optimus.policy import afs, optimus

__all__ = ["afs", "optimus"]
