"""Allocation: heuristics that divide the remaining GPUs among elastic jobs."""

from heuristics.allocation.highest_density import highest_density
from heuristics.allocation.marginal_greedy import marginal_greedy
from heuristics.allocation.two_phase import two_phase

__all__ = ["highest_density", "marginal_greedy", "two_phase"]
