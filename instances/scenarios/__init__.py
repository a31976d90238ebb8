"""Makers of whole scenarios: a workload, its cluster and what happens to it, as one paper has them together."""

from instances.scenarios.aryl import aryl
from instances.scenarios.elasticflow import elasticflow
from instances.scenarios.pollux import pollux
from instances.scenarios.sia import sia

__all__ = ["aryl", "elasticflow", "pollux", "sia"]
