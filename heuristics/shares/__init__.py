"""Heuristics for shares."""

from heuristics.shares.equal_time import equal_time
from heuristics.shares.isolated import isolated
from heuristics.shares.progressive_filling import progressive_filling
from heuristics.shares.queue import queue

#: What whoever has little time begins with comes first: of all jobs in some time, then what is best.
__all__ = ["isolated", "progressive_filling", "equal_time", "queue"]  # noqa: RUF022 - in the order of trials
