"""Heuristics for shares."""

from heuristics.shares.equal_time import equal_time
from heuristics.shares.isolated import isolated
from heuristics.shares.pop import pop
from heuristics.shares.progressive_filling import progressive_filling
from heuristics.shares.queue import queue

#: The fastest come first, as a short time limit leaves out the last ones.
__all__ = ["queue", "isolated", "equal_time", "progressive_filling", "pop"]  # noqa: RUF022 - in the order of trials
