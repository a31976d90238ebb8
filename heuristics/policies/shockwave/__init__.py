"""Shockwave: plans of the next rounds, which state for every job in which of them it runs."""

from heuristics.policies.shockwave.policy import shockwave

__all__ = ["shockwave"]
