"""Castor: sharing of GPUs between jobs where that pays off, and the baselines of the paper's evaluation."""

from heuristics.policies.castor.best_pairs import best_pairs
from heuristics.policies.castor.sjf_bsbf import sjf_bsbf
from heuristics.policies.castor.sjf_ffs import sjf_ffs

__all__ = ["best_pairs", "sjf_bsbf", "sjf_ffs"]
