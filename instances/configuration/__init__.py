"""Instances of configuration: generator, the authors' decisions, and the committed suites."""

from instances.configuration.decisions import from_data as from_data  # no generator: it needs a folder of data
from instances.configuration.growing_jobs import growing_jobs

__all__ = ["growing_jobs"]
