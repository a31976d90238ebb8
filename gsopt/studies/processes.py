"""Processes: cells computed by processes of this machine.

They are workers as solvers have them, in a pool of their own: they end with this process, however it ends.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.solvers.backends.process import Pool, Reply, Worker
from gsopt.studies.cells import Cell
from gsopt.studies.executor import Call

#: What a process imports first.
MODULE = "gsopt.studies.compute"


class Processes:
    """An `Executor` of so many processes of this machine.

    Parameters
    ----------
    workers
        How many; one per CPU when None.
    """

    note = ""

    def __init__(self, workers: int | None = None) -> None:
        count = os.cpu_count() or 1 if workers is None else workers
        if count < 1:
            raise InvalidInput("", "workers", shorten(workers), "must be at least 1")
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
        return worker.call(function, cell, limit=None, hear=_nothing)

    return call


def _nothing(_: Any) -> None:
    """Do nothing."""
