"""Threads: tiny problems of linear algebra are solved on one, as several would wait for each other."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Let the libraries of this process work on one thread for a while; scipy has to be there."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> ThreadpoolController:
    """Return the libraries of this process that have threads; they do not change once scipy is there."""
    return ThreadpoolController()
