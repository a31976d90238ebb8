"""AlloX: a matching of jobs and machines, and the authors' simulator of it."""

from heuristics.policies.allox.allox import allox
from heuristics.policies.allox.allox_port import allox_port

__all__ = ["allox", "allox_port"]
