"""Waiting over time: an instance generator and the committed suite."""

from instances.waiting.tier_jobs import tier_jobs

__all__ = ["tier_jobs"]
