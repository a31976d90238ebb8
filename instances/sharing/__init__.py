"""Sharing over time: an instance generator and the committed suite."""

from instances.sharing.interfering_jobs import interfering_jobs

__all__ = ["interfering_jobs"]
