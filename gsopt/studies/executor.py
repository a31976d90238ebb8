"""Executor: where the cells of a study are computed, such as processes of this machine.

They are workers as solvers have them, in a pool of their own: they end with this process, however it ends.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from gsopt.core.errors import InvalidInput, shorten
from gsopt.solvers.backends.process import Pool, Reply, Worker
from gsopt.studies.cells import Cell

#: Runs ``function(cell, link)`` somewhere else, and says how that ended.
Call = Callable[[Callable[..., Any], Cell], Reply]

#: What a process imports first.
MODULE = "gsopt.studies.compute"


class Executor(Protocol):
    """Where the cells of a study are computed; `run` gives it cells and keeps what comes of them."""

    threads: int  # cells that may be under way at once; a thread of this process waits for each

    @property
    def workers(self) -> int:
        """Number of cells that are computed at once, at present."""

    @property
    def details(self) -> Mapping[str, Any]:
        """The description of the place of computation that the store keeps, as plain JSON."""

    @property
    def note(self) -> str:
        """The reason why it cannot compute at present, in one line; empty if it can."""

    def borrow(self, check: Callable[[], None]) -> AbstractContextManager[Call]:
        """Return a place at which to compute; `check` raises when nothing must be begun any more."""

    def close(self) -> None:
        """End whatever is being computed; threads that wait for it are let go."""


class Processes:
    """An `Executor` of `workers` processes on this machine; one per CPU if None."""

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
        """Yield a process that nobody uses, once it has started."""
        with self._pool.borrow(MODULE, check) as worker:
            yield caller(worker)

    def close(self) -> None:
        """End the processes at once, and with them whoever waits for an answer."""
        self._pool.close()


def caller(worker: Worker) -> Call:
    """Return what calls a function in a process, however long it takes."""

    def call(function: Callable[..., Any], cell: Cell) -> Reply:
        return worker.call(function, cell, limit=None, hear=lambda _: None)

    return call
