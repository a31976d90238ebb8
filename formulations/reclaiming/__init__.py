"""Reclaiming: exact methods that choose servers to give back at the minimum cost of preemptions."""

from formulations.reclaiming.decomposition import decomposition
from formulations.reclaiming.exact import exact
from formulations.reclaiming.milp import milp
from formulations.reclaiming.reduced import reduced

__all__ = ["decomposition", "exact", "milp", "reduced"]
