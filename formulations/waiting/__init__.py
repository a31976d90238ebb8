"""Exact models of waiting over time: counted GPUs slot by slot, and GPUs that stay as intervals."""

from formulations.waiting.exact import exact
from formulations.waiting.intervals import intervals
from formulations.waiting.time_indexed import time_indexed

__all__ = ["exact", "intervals", "time_indexed"]
