"""Workloads: generators of jobs like those of public traces, of ONES, or of the scheduling instances."""

from instances.workloads.batch import batch
from instances.workloads.elastic import elastic
from instances.workloads.ones import ones
from instances.workloads.poisson import poisson
from instances.workloads.two_classes import two_classes

__all__ = ["batch", "elastic", "ones", "poisson", "two_classes"]
