"""Ares: elastic fair queuing."""

from heuristics.policies.efq.policy import efq

__all__ = ["efq"]
