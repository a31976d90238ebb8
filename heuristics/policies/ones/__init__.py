"""ONES: elastic batch sizes, with the rules and the exact optimum that it is compared with."""

from heuristics.policies.ones.capped import capped
from heuristics.policies.ones.exact_batching import exact_batching
from heuristics.policies.ones.policy import ones

__all__ = ["capped", "exact_batching", "ones"]
