"""Optimus and AFS: GPUs are granted one by one, by the remaining times of jobs."""

from heuristics.policies.optimus.policy import afs, optimus

__all__ = ["afs", "optimus"]
