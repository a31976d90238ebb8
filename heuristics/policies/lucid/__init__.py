"""Lucid: sharing of GPUs between jobs that are profiled first, and its packing rule on its own."""

from heuristics.policies.lucid.policy import lucid
from heuristics.policies.lucid.restricted_sharing import restricted_sharing

__all__ = ["lucid", "restricted_sharing"]
