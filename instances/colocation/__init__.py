"""Colocation: instance generators, measured pairs and the committed suites."""

from instances.colocation.full_cluster import full_cluster
from instances.colocation.real import from_data as from_data  # no generator: it needs a folder of traces

__all__ = ["full_cluster"]
