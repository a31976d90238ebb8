"""Interrupts: a record of Ctrl-C that is kept even if a method catches the exception."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType


@contextmanager
def noticed() -> Iterator[Event]:
    """Yield an event that is set on Ctrl-C, before `KeyboardInterrupt` is raised.

    Outside the main thread, which alone receives Ctrl-C, the event is never set.
    """
    interrupt = Event()
    if current_thread() is not main_thread():
        yield interrupt
        return

    def hear(number: int, frame: FrameType | None) -> None:
        interrupt.set()
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
