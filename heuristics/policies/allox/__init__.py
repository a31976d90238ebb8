"""AlloX: a policy that schedules by matching jobs with GPUs, and its port in later simulators."""

from heuristics.policies.allox.allox import allox
from heuristics.policies.allox.allox_port import allox_port

__all__ = ["allox", "allox_port"]
