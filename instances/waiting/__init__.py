"""Waiting: an instance generator and the committed suites."""

from instances.waiting.tier_jobs import tier_jobs

__all__ = ["tier_jobs"]
