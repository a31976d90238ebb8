"""Heuristics for placement."""

from heuristics.placement.best_fit_decreasing import best_fit_decreasing
from heuristics.placement.best_of_three import best_of_three
from heuristics.placement.first_fit import first_fit
from heuristics.placement.worst_fit import worst_fit

__all__ = ["best_fit_decreasing", "best_of_three", "first_fit", "worst_fit"]
