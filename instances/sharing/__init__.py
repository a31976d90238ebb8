"""Instances of sharing over time: a generator, and the committed suite."""

from instances.sharing.interfering_jobs import interfering_jobs

__all__ = ["interfering_jobs"]
