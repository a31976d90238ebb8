"""Optimus: the policies Optimus and AFS, which grant GPUs step by step, based on remaining times."""

from heuristics.policies.optimus.policy import afs, optimus

__all__ = ["afs", "optimus"]
