"""Formats: network topologies read from and written to files of other programs, and pictures of clusters."""

from gsopt.scenario.cluster.formats.outline import outline
from gsopt.scenario.cluster.formats.picture import draw
from gsopt.scenario.cluster.formats.reader import Format, read_cluster, write_cluster

__all__ = ["Format", "draw", "outline", "read_cluster", "write_cluster"]
