"""The decisions: each module holds one Problem and its Solution, side by side."""

from gsopt.problems.allocation import Allocation
from gsopt.problems.placement import Placement
from gsopt.problems.reclaiming import Reclaiming

__all__ = ["Allocation", "Placement", "Reclaiming"]
