"""Interrupts: Ctrl-C held back while something runs that must not be left in the middle."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import current_thread, main_thread
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Found = TypeVar("Found")

#: What has come while it was held back, and who would have heard it, from the outermost to the innermost.
_HELD: list[tuple[list[Any], Callable[..., Any]]] = []


@contextmanager
def held() -> Iterator[None]:
    """Hold Ctrl-C back: what comes meanwhile is delivered at the end, once.

    Other threads than the main one never hear of it, and what the program ignores stays ignored.

    Examples
    --------
    >>> try:
    ...     with held():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("done")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    done
    interrupted
    """
    handler = signal.getsignal(signal.SIGINT) if current_thread() is main_thread() else None
    if not callable(handler):
        yield
        return
    came: list[Any] = []
    _HELD.append((came, handler))
    signal.signal(signal.SIGINT, lambda *given: came.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        _HELD.pop()
        if came:
            handler(*came[0])


def deliver() -> None:
    """Deliver what is held back, from a point within that may be left.

    Examples
    --------
    >>> try:
    ...     with held():
    ...         signal.raise_signal(signal.SIGINT)
    ...         deliver()
    ...         print("never")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    interrupted
    """
    if _HELD and current_thread() is main_thread():
        came, handler = _HELD[-1]
        if came:
            given = came[0]
            came.clear()
            handler(*given)


def holding(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Hold Ctrl-C back whenever a function is called.

    Examples
    --------
    >>> holding(abs)(-3)
    3
    """

    @wraps(function)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        with held():
            return function(*args, **kwargs)

    return call
