"""Executor: an interface for computing the cells of a study, and its implementation with local processes.

The local processes end with this process, no matter how it ends.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from gsopt.core.errors import InvalidInput, shorten
from gsopt.solvers.backends.process import Pool, Reply, Worker
from gsopt.studies.cells import Cell

#: A function that runs ``function(cell, link)`` in another process, and returns the outcome of this call.
Call = Callable[[Callable[..., Any], Cell], Reply]

#: The module that each process imports first.
MODULE = "gsopt.studies.compute"


class Executor(Protocol):
    """The interface of objects that compute the cells of a study.

    `run` submits cells to an executor and stores their outcomes.
    """

    threads: int  # maximum number of cells in progress; a thread of this process waits for each

    @property
    def workers(self) -> int:
        """Number of cells that can currently be computed at the same time."""

    @property
    def details(self) -> Mapping[str, Any]:
        """Facts about the executor to store with the results, as plain JSON."""

    @property
    def note(self) -> str:
        """One-line reason why the executor currently cannot compute cells; empty if it can."""

    def borrow(self, check: Callable[[], None]) -> AbstractContextManager[Call]:
        """Return a context manager that yields a function with which to run calls in another process.

        `check` raises an exception once no further cell may start.
        """

    def close(self) -> None:
        """Stop all computations, and release the threads that wait for them."""


class Processes:
    """An `Executor` with `workers` processes on this machine, or one process per CPU if `workers` is None."""

    note = ""

    def __init__(self, workers: int | None = None) -> None:
        count = os.cpu_count() or 1 if workers is None else workers
        if count < 1:
            raise InvalidInput("workers", shorten(workers), "must be at least 1")
        self.threads = self.workers = count
        self.details: Mapping[str, Any] = {}
        self._pool = Pool()

    @contextmanager
    def borrow(self, check: Callable[[], None]) -> Iterator[Call]:
        """Yield a function that runs calls in an idle process or, if there is none, in a new one."""
        with self._pool.borrow(MODULE, check) as worker:
            yield caller(worker)

    def close(self) -> None:
        """Terminate the processes at once, and release the threads that wait for their results."""
        self._pool.close()


def caller(worker: Worker) -> Call:
    """Return a function that runs calls in the given worker process, without a time limit."""

    def call(function: Callable[..., Any], cell: Cell) -> Reply:
        return worker.call(function, cell, limit=None, hear=lambda _: None)

    return call
