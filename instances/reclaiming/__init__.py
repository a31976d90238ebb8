"""Reclaiming: instance generators, snapshots of traces, and the committed suites."""

from instances.reclaiming.churn import churn
from instances.reclaiming.figure_5 import figure_5
from instances.reclaiming.random_hypergraph import random_hypergraph
from instances.reclaiming.real import from_data as from_data  # no generator: it needs a folder of traces
from instances.reclaiming.server_uniform import server_uniform

__all__ = ["churn", "figure_5", "random_hypergraph", "server_uniform"]
