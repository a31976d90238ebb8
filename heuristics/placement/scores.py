"""Scores: functions that rate the servers with room for a worker; the lowest score is best.

Every function takes the number of free GPUs (or the free GPU capacity, in thousandths of a GPU), whether the
server is empty, and the server's index. It works on arrays, with one entry per server, and on single values.
"""

from typing import Any

#: Exceeds the number of GPUs on any server.
_MORE = 1 << 40


def tightest(free: Any, empty: Any, index: Any) -> Any:
    """Prefer servers with few free GPUs. Empty servers are used only if no other server has room."""
    del index
    return free + _MORE * empty


def tightest_or_largest(free: Any, empty: Any, index: Any) -> Any:
    """Prefer servers with few free GPUs; empty ones are used only if necessary, the largest first."""
    del index
    return free + empty * 2 * (_MORE - free)


def first(free: Any, empty: Any, index: Any) -> Any:
    """Prefer servers in the order given by the problem."""
    del free, empty
    return index


def roomiest(free: Any, empty: Any, index: Any) -> Any:
    """Prefer servers with many free GPUs, whether they are empty or not."""
    del empty, index
    return _MORE - free


def roomiest_in_use(free: Any, empty: Any, index: Any) -> Any:
    """Prefer servers with many free GPUs. Empty servers are used only if no other server has room."""
    del index
    return _MORE - free + _MORE * empty
