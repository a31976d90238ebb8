"""Shockwave: a policy that plans which jobs run in each of the next rounds."""

from heuristics.policies.shockwave.policy import shockwave

__all__ = ["shockwave"]
