"""Waiting: exact methods for scheduling rigid jobs that may wait, by time-indexed programs and by CP-SAT."""

from formulations.waiting.exact import exact
from formulations.waiting.intervals import intervals
from formulations.waiting.time_indexed import time_indexed

__all__ = ["exact", "intervals", "time_indexed"]
