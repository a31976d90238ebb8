"""Ctrl-C is held back where it must be, never lost and never heard twice."""

import signal
from threading import Thread

import pytest

from gsopt.core.interrupts import deliver, held


def _press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_comes_at_the_end_once() -> None:
    """An interrupt within the block is raised once, after its last line; the old handler is then back."""
    before, reached = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with held():
            _press()
            _press()
            reached.append("end")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["end"]
    assert signal.getsignal(signal.SIGINT) is before
    with held():
        reached.append("calm")
    assert reached == ["end", "calm"]


def test_what_is_raised_within_is_not_lost() -> None:
    """An error within is what the interrupt, raised in its place, came from."""

    def work() -> None:
        with held():
            _press()
            raise ZeroDivisionError

    with pytest.raises(KeyboardInterrupt) as raised:
        work()
    assert isinstance(raised.value.__context__, ZeroDivisionError)


def test_the_outermost_hold_decides() -> None:
    """Where one hold is within another, Ctrl-C comes at the end of the outer one, also if delivered within."""
    reached = []

    def work() -> None:
        with held():
            with held():
                _press()
                deliver()
                reached.append("inner")
            reached.append("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["inner", "outer"]


def test_delivery_leaves_the_hold() -> None:
    """Ctrl-C is delivered where the code within asks for it, and not again at the end."""
    reached = []

    def work() -> None:
        with held():
            deliver()
            _press()
            reached.append("before")
            deliver()
            reached.append("after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["before"]
    deliver()


def test_what_is_ignored_stays_ignored() -> None:
    """A program that ignores Ctrl-C, as those in the background do, is not made to hear it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held():
            _press()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_may_hold() -> None:
    """In another thread, which hears no signals, a hold changes nothing."""
    found = []

    def work() -> None:
        with held():
            deliver()
            found.append(signal.getsignal(signal.SIGINT))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]
