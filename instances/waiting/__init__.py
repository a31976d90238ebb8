"""Instances of waiting over time: a generator, and the committed suite."""

from instances.waiting.tier_jobs import tier_jobs

__all__ = ["tier_jobs"]
