"""Shockwave: plans of the next rounds, which state the jobs that run in each of them."""

from heuristics.policies.shockwave.policy import shockwave

__all__ = ["shockwave"]
