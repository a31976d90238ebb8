"""Clusters: network topologies in the formats of others, read and written, and pictures of clusters."""

from gsopt.clusters.outline import outline
from gsopt.clusters.picture import draw
from gsopt.clusters.reader import Format, read_cluster, write_cluster

__all__ = ["Format", "draw", "outline", "read_cluster", "write_cluster"]
