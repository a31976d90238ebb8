"""Exact methods of reclaiming: which servers to return so that the fewest jobs are preempted."""

from formulations.reclaiming.decomposition import decomposition
from formulations.reclaiming.exact import exact
from formulations.reclaiming.milp import milp
from formulations.reclaiming.reduced import reduced

__all__ = ["decomposition", "exact", "milp", "reduced"]
