"""Exact methods for waiting over time: a time-indexed program on counted GPUs, and intervals on fixed ones."""

from formulations.waiting.exact import exact
from formulations.waiting.intervals import intervals
from formulations.waiting.time_indexed import time_indexed

__all__ = ["exact", "intervals", "time_indexed"]
