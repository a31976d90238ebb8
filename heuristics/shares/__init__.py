"""Shares: heuristics that choose the share of time for which each job runs on each type of GPU."""

from heuristics.shares.equal_time import equal_time
from heuristics.shares.isolated import isolated
from heuristics.shares.pop import pop
from heuristics.shares.progressive_filling import progressive_filling
from heuristics.shares.queue import queue

#: The fastest first, because a short time limit leaves out the last ones.
__all__ = ["queue", "isolated", "equal_time", "progressive_filling", "pop"]  # noqa: RUF022 - in the order of trials
