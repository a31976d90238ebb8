"""EFQ: elastic fair queuing, the policy of Ares, and bounds on its delays."""

from heuristics.policies.efq.policy import efq

__all__ = ["efq"]
