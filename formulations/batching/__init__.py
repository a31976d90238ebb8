"""Batching: exact methods for dividing GPUs among jobs that adapt their batch sizes."""

from formulations.batching.dp import dp
from formulations.batching.exact import exact
from formulations.batching.greedy import greedy
from formulations.batching.milp import milp

__all__ = ["dp", "exact", "greedy", "milp"]
