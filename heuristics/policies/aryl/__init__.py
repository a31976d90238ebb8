"""Aryl: elastic scheduling on machines of which some are on loan."""

from heuristics.policies.aryl.policy import aryl

__all__ = ["aryl"]
