"""Heuristics for colocation."""

from heuristics.colocation.bsbf import bsbf
from heuristics.colocation.first_fit import first_fit
from heuristics.colocation.random_pairs import random_pairs

#: The best first: whoever has little time begins with it.
__all__ = ["bsbf", "first_fit", "random_pairs"]
