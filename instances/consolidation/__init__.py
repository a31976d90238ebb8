"""Instances of consolidation: generators and the committed suites."""

from instances.consolidation.half_busy import half_busy

__all__ = ["half_busy"]
