"""Sequencing: an instance generator and the committed suites."""

from instances.sequencing.unit_jobs import unit_jobs

__all__ = ["unit_jobs"]
