"""Placement: instance generators, snapshots of real clusters, and the committed suites."""

from instances.placement.elastic import elastic
from instances.placement.fine_sizes import fine_sizes
from instances.placement.real import from_data as from_data  # no generator: it needs a folder of traces
from instances.placement.vector_packing import vector_packing
from instances.placement.vectors import vectors
from instances.placement.whole_gpus import whole_gpus

__all__ = ["elastic", "fine_sizes", "vector_packing", "vectors", "whole_gpus"]
