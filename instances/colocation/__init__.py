"""Instances of colocation: generators and the committed suites."""

from instances.colocation.full_cluster import full_cluster

__all__ = ["full_cluster"]
