"""Sharing: an instance generator and the committed suites."""

from instances.sharing.interfering_jobs import interfering_jobs

__all__ = ["interfering_jobs"]
