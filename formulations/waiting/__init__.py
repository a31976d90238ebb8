"""Exact methods for waiting over time: a time-indexed program with counted GPUs, and CP-SAT with fixed GPUs."""

from formulations.waiting.exact import exact
from formulations.waiting.intervals import intervals
from formulations.waiting.time_indexed import time_indexed

__all__ = ["exact", "intervals", "time_indexed"]
