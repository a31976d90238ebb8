"""Configuration: instance generators, decisions of Sia's simulator, and the committed suites."""

from instances.configuration.decisions import from_data as from_data  # no generator: it needs a folder of data
from instances.configuration.growing_jobs import growing_jobs
from instances.configuration.triples import triples

__all__ = ["growing_jobs", "triples"]
