"""Optimus and AFS: GPUs are granted one by one, by what jobs have left."""

from heuristics.policies.optimus.afs import afs
from heuristics.policies.optimus.policy import optimus

__all__ = ["afs", "optimus"]
