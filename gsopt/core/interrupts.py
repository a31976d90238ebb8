"""Interrupts: functions that hold back Ctrl-C during operations that must not be interrupted."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import current_thread, main_thread
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Found = TypeVar("Found")

#: The interrupts that each active hold has held back, and their handler, from the outermost hold inwards.
_HELD: list[tuple[list[Any], Callable[..., Any]]] = []


@contextmanager
def held() -> Iterator[None]:
    """Hold back Ctrl-C inside the ``with`` block, and deliver it once at the end.

    In threads other than the main one, nothing is held back, because Ctrl-C does not reach them. If Ctrl-C has
    no handler in Python, for example because the program ignores it, its effect stays the same.

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
    """Deliver any Ctrl-C that the innermost `held` holds back; called where the code may be interrupted."""
    if _HELD and current_thread() is main_thread():
        came, handler = _HELD[-1]
        if came:
            given = came[0]
            came.clear()
            handler(*given)


def holding(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Wrap a function so that Ctrl-C is held back while it runs."""

    @wraps(function)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        with held():
            return function(*args, **kwargs)

    return call
