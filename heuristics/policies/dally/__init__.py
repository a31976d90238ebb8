"""Dally: delay scheduling, in which jobs wait for GPUs on a closer network tier."""

from heuristics.policies.dally.policy import dally

__all__ = ["dally"]
