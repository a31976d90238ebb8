"""Batching: an instance generator and the committed suites."""

from instances.batching.elastic_jobs import elastic_jobs

__all__ = ["elastic_jobs"]
