"""The worker's link: frames in order, log first, bounds not too often."""

import os
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from gsopt.solvers.backends.process import LENGTH, FrameKind
from gsopt.solvers.backends.worker import ParentLink


class Pipe:
    """A link and what came out of it."""

    def __init__(self) -> None:
        self.reader, writer = os.pipe()
        self.link = ParentLink(writer)
        self._writer = writer

    def frames(self) -> list[tuple[FrameKind, Any]]:
        """Return all frames written so far."""
        os.set_blocking(self.reader, False)
        try:
            data = os.read(self.reader, 2**16)
        except BlockingIOError:
            return []
        frames = []
        while data:
            end = LENGTH + int.from_bytes(data[:LENGTH], "little")
            frames.append(pickle.loads(data[LENGTH:end]))  # noqa: S301 - written a line above
            data = data[end:]
        return frames

    def close(self) -> None:
        """Close both ends."""
        os.close(self.reader)
        os.close(self._writer)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """Yield a link that writes to a pipe."""
    pipe = Pipe()
    yield pipe
    pipe.close()


def test_log_goes_before_the_next_frame(pipe: Pipe) -> None:
    """Waiting log must leave in one piece before the next frame."""
    pipe.link.log("a")
    pipe.link.log("b")
    assert pipe.frames() == []

    pipe.link.send(FrameKind.ANSWER, 1)
    assert pipe.frames() == [(FrameKind.LOG, "ab"), (FrameKind.ANSWER, 1)]


def test_tick_sends_waiting_log_once(pipe: Pipe) -> None:
    """A tick must send waiting log, and nothing where none waits."""
    pipe.link.log("a")
    pipe.link.tick()
    pipe.link.tick()

    assert pipe.frames() == [(FrameKind.LOG, "a")]


def test_bounds_that_come_too_often_are_left_out(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bound, and a second one within the tick, must not be sent."""
    for time, bound in ((100.0, 1.0), (100.1, 2.0), (101.0, 1.0), (101.1, 3.0), (101.2, 4.0)):
        monkeypatch.setattr("gsopt.solvers.backends.worker.monotonic", lambda time=time: time)
        pipe.link.bound(bound)

    assert pipe.frames() == [(FrameKind.BOUND, 1.0), (FrameKind.BOUND, 3.0)]


def test_stop_reaches_the_solver_whenever_it_comes(pipe: Pipe) -> None:
    """An interrupt must be passed to the solver, also one that came before the solver was named."""
    stops: list[str] = []
    pipe.link.stop()
    pipe.link.on_stop(lambda: stops.append("late"))
    pipe.link.stop()

    assert pipe.link.stopped
    assert stops == ["late", "late"]
