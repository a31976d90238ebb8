"""Dally: delay scheduling by network tiers."""

from heuristics.policies.dally.policy import dally

__all__ = ["dally"]
