"""Marginal: policies that grant GPUs to the jobs that gain most, by marginal efficiency or rolling prices."""

from heuristics.policies.marginal.marginal import marginal, marginal_attained
from heuristics.policies.marginal.rolling_prices import rolling_prices

__all__ = ["marginal", "marginal_attained", "rolling_prices"]
