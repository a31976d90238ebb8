"""Scores: the criteria by which a worker chooses among the servers with room, lowest score first.

Every function takes the servers' free GPUs, whether the servers are empty, and their indices, either as arrays
or for a single server.
"""

from typing import Any

#: More than the GPUs of any server.
_MORE = 1 << 40


def tightest(free: Any, empty: Any, index: Any) -> Any:
    """Prefer the fewest free GPUs, and empty servers only if no other has room."""
    del index
    return free + _MORE * empty


def tightest_or_largest(free: Any, empty: Any, index: Any) -> Any:
    """Prefer the fewest free GPUs, and empty servers only if no other has room, the largest first."""
    del index
    return free + empty * 2 * (_MORE - free)


def first(free: Any, empty: Any, index: Any) -> Any:
    """Prefer the first server."""
    del free, empty
    return index


def roomiest(free: Any, empty: Any, index: Any) -> Any:
    """Prefer the most free GPUs, whether the server is empty or not."""
    del empty, index
    return _MORE - free


def roomiest_in_use(free: Any, empty: Any, index: Any) -> Any:
    """Prefer the most free GPUs, and empty servers only if no other has room."""
    del index
    return _MORE - free + _MORE * empty
