"""Placement: heuristics for placing workers on servers."""

from heuristics.placement.best_fit import best_fit
from heuristics.placement.best_fit_decreasing import best_fit_decreasing
from heuristics.placement.best_of_three import best_of_three
from heuristics.placement.dot_product import dot_product
from heuristics.placement.fgd import fgd
from heuristics.placement.first_fit import first_fit
from heuristics.placement.gpu_clustering import gpu_clustering
from heuristics.placement.gpu_packing import gpu_packing
from heuristics.placement.random_fit import random_fit
from heuristics.placement.worst_fit import worst_fit

#: Ordered from fastest to slowest, because a short time limit leaves out the last ones.
__all__ = [  # noqa: RUF022 - by time
    "first_fit",
    "best_fit_decreasing",
    "best_of_three",
    "worst_fit",
    "gpu_packing",
    "best_fit",
    "dot_product",
    "random_fit",
    "gpu_clustering",
    "fgd",
]
