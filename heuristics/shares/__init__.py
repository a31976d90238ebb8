"""Heuristics for shares."""

from heuristics.shares.equal_time import equal_time
from heuristics.shares.isolated import isolated
from heuristics.shares.progressive_filling import progressive_filling
from heuristics.shares.queue import queue

#: The best first: whoever has little time begins with it.
__all__ = ["progressive_filling", "isolated", "equal_time", "queue"]  # noqa: RUF022 - the best first
