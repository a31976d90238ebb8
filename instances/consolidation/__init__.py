"""Consolidation: instance generators and the committed suites."""

from instances.consolidation.half_busy import half_busy
from instances.consolidation.triples import triples

__all__ = ["half_busy", "triples"]
