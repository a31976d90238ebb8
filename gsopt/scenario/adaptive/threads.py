"""Threads: a limit of one thread for tiny linear algebra, where several threads would wait for each other."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Limit the linear algebra of this process to one thread within a ``with`` block.

    scipy must already be loaded.
    """
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> ThreadpoolController:
    """Return the controller of this process's threaded libraries, which do not change once scipy is loaded."""
    return ThreadpoolController()
