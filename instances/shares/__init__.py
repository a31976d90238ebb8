"""Shares: an instance generator, instances with measured throughputs, and the committed suites."""

from instances.shares.real import from_data as from_data  # no generator: it needs a folder of tables
from instances.shares.typed_jobs import typed_jobs

__all__ = ["typed_jobs"]
