"""Lucid: a policy whose jobs are profiled before they share GPUs, and its packing rule as a separate policy."""

from heuristics.policies.lucid.policy import lucid
from heuristics.policies.lucid.restricted_sharing import restricted_sharing

__all__ = ["lucid", "restricted_sharing"]
