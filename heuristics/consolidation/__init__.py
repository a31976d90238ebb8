"""Consolidation: heuristics that start waiting jobs on GPUs close to each other."""

from heuristics.consolidation.fifo import fifo
from heuristics.consolidation.greedy import greedy
from heuristics.consolidation.most_sensitive_first import most_sensitive_first

#: The best first, because a short time limit leaves out the last ones.
__all__ = ["greedy", "fifo", "most_sensitive_first"]  # noqa: RUF022 - not by name
