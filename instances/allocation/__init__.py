"""Allocation: instance generators, snapshots of traces, and the committed suites."""

from instances.allocation.aryl import figure_6, table_4
from instances.allocation.elastic_jobs import elastic_jobs
from instances.allocation.multiple_choice import multiple_choice
from instances.allocation.real import from_data as from_data  # no generator: it needs a folder of traces

__all__ = ["elastic_jobs", "figure_6", "multiple_choice", "table_4"]
