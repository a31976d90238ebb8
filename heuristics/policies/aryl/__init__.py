"""Aryl: scheduling of elastic jobs on training machines and on loaned inference machines."""

from heuristics.policies.aryl.policy import aryl

__all__ = ["aryl"]
