"""Goodput: instance generators, decisions of Pollux's simulator, and the committed suites."""

from instances.goodput.decisions import from_data as from_data  # no generator: it needs a folder of data
from instances.goodput.running_jobs import running_jobs
from instances.goodput.triples import triples

__all__ = ["running_jobs", "triples"]
