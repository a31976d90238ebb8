"""Instances of shares: a generator, measured throughputs and the committed suites."""

from instances.shares.typed_jobs import typed_jobs

__all__ = ["typed_jobs"]
