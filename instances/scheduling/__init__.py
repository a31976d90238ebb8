"""Scheduling: instance generators, instances from public traces, and the committed suites."""

from instances.scheduling.aryl import crawling, table_3, table_4
from instances.scheduling.elastic_jobs import elastic_jobs
from instances.scheduling.figures import figure_1, figure_4
from instances.scheduling.real import from_data as from_data  # no generator: it needs a folder of traces

__all__ = ["crawling", "elastic_jobs", "figure_1", "figure_4", "table_3", "table_4"]
