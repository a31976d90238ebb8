"""Makers of whole scenarios: a workload, its cluster and what happens to it, as one paper has them together."""

from instances.scenarios.aryl import aryl

__all__ = ["aryl"]
