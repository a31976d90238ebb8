"""Instances of goodput: generator, the authors' decisions, and the committed suites."""

from instances.goodput.running_jobs import running_jobs

__all__ = ["running_jobs"]
