"""Preempting: jobs of high priority start at once, and running jobs of lower priority stop for them."""

from heuristics.policies.preempting.admitting import admitting
from heuristics.policies.preempting.priority_preemption import priority_preemption

__all__ = ["admitting", "priority_preemption"]
