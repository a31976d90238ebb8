"""ONES: elastic batch sizes, and what is known of batches, durations and epochs."""

from heuristics.policies.ones.capped import capped
from heuristics.policies.ones.exact_batching import exact_batching
from heuristics.policies.ones.policy import ones

__all__ = ["capped", "exact_batching", "ones"]
