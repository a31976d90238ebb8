"""Heuristics for placement."""

from heuristics.placement.best_fit_decreasing import best_fit_decreasing
from heuristics.placement.best_of_three import best_of_three
from heuristics.placement.first_fit import first_fit
from heuristics.placement.worst_fit import worst_fit

#: The best first: whoever has little time begins with it.
__all__ = ["best_of_three", "best_fit_decreasing", "first_fit", "worst_fit"]  # noqa: RUF022 - not by name
