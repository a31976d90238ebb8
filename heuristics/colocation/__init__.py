"""Colocation: heuristics that choose which pending jobs share GPUs with which running jobs."""

from heuristics.colocation.bsbf import bsbf
from heuristics.colocation.first_fit import first_fit
from heuristics.colocation.random_pairs import random_pairs

#: The best first, because a short time limit leaves out the last ones.
__all__ = ["bsbf", "first_fit", "random_pairs"]
