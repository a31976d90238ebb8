"""Heuristics for placement."""

from heuristics.placement.best_fit_decreasing import best_fit_decreasing
from heuristics.placement.best_of_three import best_of_three
from heuristics.placement.first_fit import first_fit
from heuristics.placement.worst_fit import worst_fit

#: The fastest come first, as a short time limit leaves out the last ones.
__all__ = ["first_fit", "best_fit_decreasing", "best_of_three", "worst_fit"]  # noqa: RUF022 - by time
