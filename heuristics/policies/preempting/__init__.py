"""Preempting: policies that stop running jobs so that jobs of higher priority can start at once."""

from heuristics.policies.preempting.admitting import admitting
from heuristics.policies.preempting.priority_preemption import priority_preemption

__all__ = ["admitting", "priority_preemption"]
