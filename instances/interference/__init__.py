"""Interference: readers for published measurements of jobs that share a GPU.

There is one reader per file format.

Every reader takes a path and options, and returns a `PairReading`.
"""

from instances.interference.gavel import gavel
from instances.interference.lucid import lucid

__all__ = ["gavel", "lucid"]
