"""Instances of placement: generators, snapshots of real clusters, and the committed suites."""

from instances.placement.elastic import elastic
from instances.placement.real import from_data as from_data  # no generator: it needs a folder of traces
from instances.placement.vectors import vectors
from instances.placement.whole_gpus import whole_gpus

__all__ = ["elastic", "vectors", "whole_gpus"]
