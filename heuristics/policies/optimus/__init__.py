"""Optimus and AFS: GPUs are granted one by one, by what jobs have left."""

from heuristics.policies.optimus.policy import afs, optimus

__all__ = ["afs", "optimus"]
