"""Castor: policies that let jobs share GPUs if that pays off, and the paper's baseline that always shares."""

from heuristics.policies.castor.best_pairs import best_pairs
from heuristics.policies.castor.sjf_bsbf import sjf_bsbf
from heuristics.policies.castor.sjf_ffs import sjf_ffs

__all__ = ["best_pairs", "sjf_bsbf", "sjf_ffs"]
