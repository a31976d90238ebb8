"""Aryl: elastic scheduling on machines that are always there and on those that are on loan."""

from heuristics.policies.aryl.policy import aryl

__all__ = ["aryl"]
