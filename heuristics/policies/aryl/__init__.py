"""Aryl: elastic scheduling on machines, some of which are on loan."""

from heuristics.policies.aryl.policy import aryl

__all__ = ["aryl"]
