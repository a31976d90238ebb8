"""Scenarios: workloads with their clusters and events, most of them as in the evaluations of papers."""

from instances.scenarios.aryl import aryl
from instances.scenarios.elasticflow import elasticflow
from instances.scenarios.failures import failures
from instances.scenarios.pollux import pollux
from instances.scenarios.sia import sia
from instances.scenarios.year import year

__all__ = ["aryl", "elasticflow", "failures", "pollux", "sia", "year"]
