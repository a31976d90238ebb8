"""Marginal: GPUs go to the jobs that gain most by them, by marginal efficiency or by rolling prices."""

from heuristics.policies.marginal.marginal import marginal, marginal_attained
from heuristics.policies.marginal.rolling_prices import rolling_prices

__all__ = ["marginal", "marginal_attained", "rolling_prices"]
