"""Processes: the worker processes of solvers, one for each running solve.

Processes are kept alive between solves, killed if they exceed the time limit, and terminated with the parent.
"""

import atexit
import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import inf
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any

from gsopt.core.errors import MissingSolver
from gsopt.core.interrupts import held
from gsopt.core.log import logger_of
from gsopt.core.result import StoppedBy

_LOGGER = logger_of(__name__)

#: Number of bytes that store the length of a pickled frame, before the frame.
LENGTH = 8

#: The frame that asks a worker to stop its function.
STOP = None

_START_LIMIT = 120.0  # seconds for a worker to import its solver, on any busy machine
_STOP_LIMIT = 1.0  # seconds for a solver to obey an interrupt
_LONGEST_WAIT = 86_400.0  # seconds of one wait, which the system counts as milliseconds in 32 bits
_CHUNK = 2**20


class FrameKind(StrEnum):
    """The kind of a frame (message) that a worker sends."""

    READY = "ready"  # the solver is imported
    INCUMBENT = "incumbent"  # (values, bound or None)
    BOUND = "bound"  # a number
    LOG = "log"  # text
    ANSWER = "answer"  # the result of the called function
    ERROR = "error"  # one line on its exception


#: A message from a worker: its kind and its content.
Frame = tuple[FrameKind, Any]


@dataclass(frozen=True)
class Reply:
    """The outcome of a call: the answer, if there is one, and what cut the call short, if anything did."""

    answer: Any = None  # result of the function, if it has one
    stopped_by: StoppedBy | None = None  # why the call was cut short, if it was
    message: str = ""  # what happened to the process, if anything did


class Died(Exception):
    """Error raised when the worker process has ended."""


class Late(Exception):
    """Error raised when a worker does not start or answer in time."""


class ProcessStarter:
    """A thread that starts all worker processes.

    The system may terminate a process when the thread that started it ends (see
    `gsopt.solvers.backends.worker`). The starter thread lasts as long as the program, unlike the threads that
    ask for a worker.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._orders: SimpleQueue[tuple[list[str], dict[str, Any], Future[subprocess.Popen[bytes]]]] | None = (
            None
        )

    def start(self, command: list[str], **options: Any) -> "subprocess.Popen[bytes]":
        """Start a process as `subprocess.Popen` does, holding back Ctrl-C until it has started."""
        found: Future[subprocess.Popen[bytes]] = Future()
        with held():
            with self._lock:
                if self._orders is None:
                    self._orders = SimpleQueue()
                    Thread(target=_start_for_ever, args=(self._orders,), daemon=True).start()
                self._orders.put((command, options, found))
            return found.result()

    def forget(self) -> None:
        """Forget the thread in a forked process, to which threads are not copied."""
        self._lock, self._orders = Lock(), None


def _start_for_ever(orders: "SimpleQueue[Any]") -> None:
    while True:
        command, options, found = orders.get()
        try:
            found.set_result(subprocess.Popen(command, **options))  # noqa: S603 - our own interpreter and module
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits for the process
            found.set_exception(error)
        del command, options, found  # the process is not held here


#: The thread that starts the workers of this process.
STARTER = ProcessStarter()


class Worker:
    """A worker process that has imported one solver, and the channel for exchanging frames with it."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process = STARTER.start(
            [sys.executable, "-P", "-m", "gsopt.solvers.backends.worker", module, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C at the terminal reaches the parent alone
        )
        self._pipes = [p for p in (self._process.stdin, self._process.stdout, self._process.stderr) if p]
        self._to, self._from, self._stray = (pipe.fileno() for pipe in self._pipes)
        os.set_blocking(self._to, False)
        self._writable = _poll(select.POLLOUT, self._to)
        self._readable = _poll(select.POLLIN, self._from, self._stray)
        self._printed = _poll(select.POLLIN, self._stray)
        self._open = {self._from, self._stray}
        self._received = bytearray()
        self._ready = False
        self._said = ""
        self._start_deadline = monotonic() + _START_LIMIT

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def await_ready(self, deadline: float = inf) -> None:
        """Wait until the solver is imported.

        Raise `Late` at the deadline, which is a time of the monotonic clock in seconds; the process continues
        to start. Raise `MissingSolver` if the import fails or takes more than two minutes.
        """
        try:
            while not self._ready:
                kind, content = self._receive(min(deadline, self._start_deadline))
                self._ready = kind is FrameKind.READY
                self._said += "" if self._ready else str(content)
        except (Died, Late) as error:
            if isinstance(error, Late) and deadline < self._start_deadline:
                raise
            reason = self._said.strip().rpartition("\n")[2] or type(error).__name__.lower()
            raise MissingSolver(f"{self._module}: its process does not start: {reason}") from None

    def call(
        self, function: Callable[..., Any], task: Any, *, limit: float | None, hear: Callable[[Frame], Any]
    ) -> Reply:
        """Run ``function(task, link)`` in the worker, with a `gsopt.solvers.backends.worker.ParentLink`.

        The worker is killed if it has not answered after `limit` seconds. `hear` is called with each frame that
        arrives before the answer. If `hear` returns True, or on Ctrl-C, the function is asked to stop, and the
        worker is killed if it does not answer within a second.
        """
        deadline = inf if limit is None else monotonic() + limit
        stopped_by = StoppedBy.TIME_LIMIT
        try:
            try:
                self._send((function, task), deadline)
                reply = self._listen(deadline, hear)
            except KeyboardInterrupt:
                reply = None
            if reply is not None:
                return reply
            stopped_by = StoppedBy.INTERRUPT
            deadline = min(deadline, monotonic() + _STOP_LIMIT)
            self._send(STOP, deadline)
            while reply is None:
                reply = self._listen(deadline, hear)
        except (Late, KeyboardInterrupt):
            self.kill()
            reason = "the solver did not stop in time: its process was killed"
            self._warn(reason)
            return Reply(None, stopped_by, reason)
        except Died:
            reason = self._obituary()
            self._warn(reason)
            return Reply(None, StoppedBy.CRASH, reason)
        return Reply(reply.answer, reply.stopped_by or stopped_by, reply.message)

    def _warn(self, reason: str) -> None:
        _LOGGER.warning("%s: %s", self._module, reason, extra={"solver": self._module, "worker": self.pid})

    def kill(self) -> None:
        """Kill the process, and wait until it has ended."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes of a process that has ended, or that belongs to the parent after a fork."""
        if self._process.returncode is None:
            self._process.returncode = 0
        for pipe in self._pipes:
            pipe.close()

    def _listen(self, deadline: float, hear: Callable[[Frame], Any]) -> Reply | None:
        """Process frames until the reply, and return it, or None as soon as `hear` asks to stop."""
        while True:
            kind, content = frame = self._receive(deadline)
            if kind is FrameKind.ANSWER:
                return Reply(content)
            if kind is FrameKind.ERROR:
                return Reply(None, StoppedBy.CRASH, content)
            if hear(frame) is True:
                return None

    def _send(self, message: Any, deadline: float) -> None:
        body = pickle.dumps(message, protocol=5)
        left = memoryview(len(body).to_bytes(LENGTH, "little") + body)
        while left:
            try:
                left = left[os.write(self._to, left) :]
            except BlockingIOError:
                _wait(self._writable, deadline)
            except BrokenPipeError:
                raise Died from None

    def _receive(self, deadline: float) -> Frame:
        """Return the next frame.

        Output that the solver printed earlier is returned first, as a log frame.
        """
        while True:
            if self._stray in self._open and self._printed.poll(0) and (text := self._read(self._stray)):
                return FrameKind.LOG, text.decode(errors="replace")
            end = LENGTH + int.from_bytes(self._received[:LENGTH], "little")
            if len(self._received) >= end > LENGTH:
                body = self._received[LENGTH:end]
                del self._received[:end]
                return pickle.loads(body)  # type: ignore[no-any-return]  # noqa: S301 - from our own worker
            if not self._open:
                raise Died
            if self._from in _wait(self._readable, deadline):
                self._received += self._read(self._from)

    def _read(self, pipe: int) -> bytes:
        data = os.read(pipe, _CHUNK)
        if not data:
            self._open.remove(pipe)
            self._readable.unregister(pipe)
        return data

    def _obituary(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_LIMIT)
        self.kill()
        code = self._process.returncode
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"the solver's process ended {how}"


class Pool:
    """A pool of workers, which keeps idle workers separately for each module.

    A borrowed worker belongs to the thread that borrowed it until it is returned.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._all: set[Worker] = set()
        self._idle: list[tuple[str, Worker]] = []

    @contextmanager
    def borrow(self, module: str, check: Callable[[], None], *, deadline: float = inf) -> Iterator[Worker]:
        """Yield an idle worker or, if there is none, a new one.

        `check` is called before a new worker is started, and may raise an error. An exception inside the
        ``with`` block kills the worker.

        Raise `Late` if the worker has not started by the deadline. It continues to start and serves a later
        call. Raise `MissingSolver` if the worker fails to start.
        """
        worker = self._idle_worker(module) or self._new_worker(module, check)
        self._await_ready(module, worker, deadline)
        try:
            yield worker
        except BaseException:
            worker.kill()
            raise
        finally:
            self._take_back(module, worker)

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers, both idle and busy."""
        with self._lock:
            return [worker.pid for worker in self._all if worker.alive]

    def close(self) -> None:
        """Terminate every worker.

        A solve that is running in another thread counts as crashed.
        """
        with self._lock:
            idle = {worker for _, worker in self._idle}
            busy = self._all - idle
            self._idle.clear()
            self._all -= idle
        for worker in busy:
            worker.kill()  # its own thread closes its pipes
        for worker in idle:
            worker.kill()
            worker.close()

    def forget(self) -> None:
        """Forget the parent's workers in a forked process."""
        for worker in self._all:
            worker.close()
        self._lock = Lock()
        self._all.clear()
        self._idle.clear()

    def _idle_worker(self, module: str) -> Worker | None:
        with self._lock:
            found = [pair for pair in self._idle if pair[0] == module]
            for pair in found:
                self._idle.remove(pair)
                if pair[1].alive:
                    return pair[1]
                self._all.discard(pair[1])
                pair[1].close()
        return None

    def _new_worker(self, module: str, check: Callable[[], None]) -> Worker:
        check()
        _end_with_this_process()
        worker = Worker(module)
        _LOGGER.debug(
            "process %d starts for %s", worker.pid, module, extra={"solver": module, "worker": worker.pid}
        )
        with self._lock:
            self._all.add(worker)
        return worker

    def _await_ready(self, module: str, worker: Worker, deadline: float) -> None:
        try:
            worker.await_ready(deadline)
        except Late:
            self._take_back(module, worker)
            raise
        except BaseException:
            worker.kill()
            self._take_back(module, worker)
            raise

    def prepare(self, module: str, check: Callable[[], None]) -> None:
        """Start a worker in the background, unless one is idle."""
        worker = self._idle_worker(module) or self._new_worker(module, check)
        self._take_back(module, worker)

    def _take_back(self, module: str, worker: Worker) -> None:
        with self._lock:
            if worker.alive and worker in self._all:
                self._idle.append((module, worker))
            else:
                self._all.discard(worker)
                worker.close()


#: The workers of this process, for all solvers.
POOL = Pool()


def close() -> None:
    """Terminate all solver processes that this process has started, to free memory.

    The next solve starts a new one. A solve that is running in another thread ends as if its solver had
    crashed.

    Examples
    --------
    >>> close()
    >>> POOL.pids
    []
    """
    POOL.close()


@cache
def _end_with_this_process() -> None:
    atexit.register(POOL.close)
    os.register_at_fork(after_in_child=POOL.forget)
    os.register_at_fork(after_in_child=STARTER.forget)


def _poll(event: int, *pipes: int) -> Any:
    poll = select.poll()
    for pipe in pipes:
        poll.register(pipe, event)
    return poll


def _wait(poll: Any, deadline: float) -> list[int]:
    """Wait until a pipe is ready, and return all pipes that are.

    The pipes are checked at least once, even after the deadline.
    """
    while True:
        left = min(max(deadline - monotonic(), 0.0), _LONGEST_WAIT)
        ready = [pipe for pipe, _ in poll.poll(1000 * left)]
        if ready:
            return ready
        if left < _LONGEST_WAIT:
            raise Late
