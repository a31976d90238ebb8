"""ONES: a policy for elastic batch sizes, with simple rules and the exact optimum as baselines."""

from heuristics.policies.ones.capped import capped
from heuristics.policies.ones.exact_batching import exact_batching
from heuristics.policies.ones.policy import ones

__all__ = ["capped", "exact_batching", "ones"]
