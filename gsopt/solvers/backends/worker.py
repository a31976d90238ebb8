"""Worker: the process for one solver, run as ``python -m gsopt.solvers.backends.worker MODULE PARENT``.

MODULE is the Python module to import first, and PARENT is the process id of the parent.

Frames arrive on the original standard input and leave on the original standard output. Both are moved to other
descriptors at once, because code that runs here may read from, print to, or close the original ones. Solvers
print to descriptor 1, which is redirected to standard error. The parent treats all such output as log.

The process ends with its parent, even during a solve. On Linux the system ensures this, no matter how busy
the interpreter is. Elsewhere a thread monitors the parent.
"""

import faulthandler
import gc
import os
import pickle
import select
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from threading import RLock, Thread
from time import monotonic
from typing import Any

from gsopt.core.errors import one_line
from gsopt.solvers.backends.process import LENGTH, STOP, FrameKind

_TICK = 0.2  # seconds between two checks of the parent, and between two bounds sent to it
_PR_SET_PDEATHSIG = 1  # of prctl(2)


class ParentLink:
    """The connection between a running function and the parent process, which may stop the function.

    Frames are written to a file descriptor.
    """

    def __init__(self, out: int) -> None:
        self.stopped = False
        self._out = out
        self._lock = RLock()
        self._stop: Callable[[], Any] = _nothing
        self._log: list[str] = []
        self._bound: float | None = None
        self._sent_at = 0.0

    def on_stop(self, stop: Callable[[], Any]) -> None:
        """Set the function that interrupts the solver, and call it at once if a stop was already requested."""
        self._stop = stop
        if self.stopped:
            stop()

    def stop(self) -> None:
        """Interrupt the solver."""
        self.stopped = True
        self._stop()

    def incumbent(self, values: Any, bound: float | None) -> None:
        """Report a new incumbent and the current bound."""
        self.send(FrameKind.INCUMBENT, (values, bound))

    def bound(self, bound: float) -> None:
        """Report a bound. At most five bounds per second are sent, so this may be called often."""
        if bound != self._bound and monotonic() - self._sent_at > _TICK:
            self._bound, self._sent_at = bound, monotonic()
            self.send(FrameKind.BOUND, bound)

    def log(self, text: str) -> None:
        """Append text to the log, which is sent with the next frame or tick."""
        with self._lock:
            self._log.append(text)

    def tick(self) -> None:
        """Send the pending log, unless a frame is being sent."""
        if self._log and self._lock.acquire(blocking=False):
            try:
                self._send_log()
            finally:
                self._lock.release()

    def send(self, kind: FrameKind, content: Any) -> None:
        """Send a frame after any pending log."""
        with self._lock:
            self._send_log()
            self._write(kind, content)

    def _send_log(self) -> None:
        if self._log:
            self._write(FrameKind.LOG, "".join(self._log))
            self._log.clear()

    def _write(self, kind: FrameKind, content: Any) -> None:
        body = pickle.dumps((kind, content), protocol=5)
        left = memoryview(len(body).to_bytes(LENGTH, "little") + body)
        try:
            while left:
                left = left[os.write(self._out, left) :]
        except BrokenPipeError:
            os._exit(0)


def main(module: str, parent: int) -> None:
    """Serve calls from the parent until the parent has ended."""
    incoming, out = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    faulthandler.enable()
    import_module(module)
    calls: SimpleQueue[tuple[Callable[[Any, ParentLink], Any], Any, ParentLink]] = SimpleQueue()
    Thread(target=_watch, args=(calls, incoming, out, parent), daemon=True).start()
    try:
        ParentLink(out).send(FrameKind.READY, None)
        gc.freeze()
        while True:
            _serve(*calls.get())
            gc.collect()  # models and callbacks hold each other; what was imported is frozen, so this is quick
    finally:  # a worker that cannot answer is useless, and threads of a function must not keep it
        os._exit(1)


def _end_with_parent() -> None:
    """Have the system kill this process when its parent ends.

    Strictly speaking, the process ends with the thread that started it, which lasts as long as the parent. If
    the parent has already ended, a thread of this process notices this.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _serve(function: Callable[[Any, ParentLink], Any], task: Any, link: ParentLink) -> None:
    process = os.getpid()
    try:
        answer = function(task, link)
    except BaseException as error:  # noqa: BLE001 - the parent must hear of anything
        _leave_fork(process)
        link.log(traceback.format_exc())
        link.send(FrameKind.ERROR, one_line(error))
    else:
        _leave_fork(process)
        link.send(FrameKind.ANSWER, answer)
    finally:
        link.on_stop(_nothing)  # lets go of the solver


def _leave_fork(process: int) -> None:
    """End a child process that the function forked and that returned here by mistake."""
    if os.getpid() != process:
        os._exit(0)


def _nothing() -> None:
    """Do nothing."""


def _watch(calls: SimpleQueue[Any], incoming: int, out: int, parent: int) -> None:
    """Process frames from the parent, and end this process at once when the parent has ended."""
    try:
        link = ParentLink(out)
        while os.getppid() == parent:
            link.tick()
            if select.select([incoming], [], [], _TICK)[0]:
                length = int.from_bytes(_read(incoming, LENGTH), "little")
                message = pickle.loads(_read(incoming, length))  # noqa: S301 - from our parent
                if message is STOP:
                    link.stop()
                else:
                    link = ParentLink(out)
                    calls.put((*message, link))
    except EOFError:
        pass
    except BaseException:  # noqa: BLE001 - a worker that cannot hear its parent is useless
        with suppress(BaseException):  # there may be nowhere to print to
            traceback.print_exc()
    finally:
        os._exit(0)


def _read(incoming: int, size: int) -> bytes:
    """Read exactly `size` bytes, so that no frame stays in a buffer that `select` does not see."""
    data = bytearray()
    while len(data) < size:
        piece = os.read(incoming, size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
