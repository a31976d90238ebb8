"""Clusters: network topologies in the formats of others, read and written, and pictures of clusters."""

from gsopt.clusters.reader import Format, read_cluster, write_cluster

__all__ = ["Format", "read_cluster", "write_cluster"]
