"""Dask worker: the code that runs on a Dask worker and computes each cell in a separate process.

If a process dies, the program that runs the study (the driver) learns of it as if the process were local; the
worker and the cells in its other threads continue. If the driver is killed or interrupted, processes whose
cells are no longer wanted are terminated. All processes end with the worker, no matter how it ends.
"""

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

from gsopt.core.errors import InvalidInput
from gsopt.solvers.backends.process import Pool, Reply, Worker
from gsopt.studies.cells import Cell
from gsopt.studies.executor import MODULE, caller
from gsopt.studies.installation import Installation, refuse_difference
from gsopt.studies.needs import Needs

_LOOK = 0.5  # seconds between two looks at what is still wanted
_IDLE = 60.0  # seconds after which processes that compute nothing are ended

#: States of a Dask worker that is not about to end, and of a task whose result is still wanted.
_OPEN, _COMPUTING = ("running", "paused", "closing_gracefully"), ("executing", "long-running")


@dataclass(frozen=True)
class CellOrder:
    """A request to call a function with a cell.

    Any worker that has the required installation, files and modules can serve the request.
    """

    run: str  # name of the run, under which the driver learns that a cell begins
    number: int  # within the run
    installation: Installation  # what must be installed
    needs: Needs  # other files and modules that must exist
    function: Callable[..., Any]
    cell: Cell


@dataclass(frozen=True)
class OrderResult:
    """The outcome of a request, and the machine that computed it."""

    machine: str
    reply: Reply | None  # None if the call was ended, as its result was no longer wanted


def inspect(ours: Installation, needs: Needs) -> InvalidInput | None:
    """Return an error if this machine cannot compute the cells of a study, or None if it can."""
    here = str(Path.cwd())  # methods may lie there, as for the command
    if here not in sys.path:
        sys.path.append(here)
    try:
        refuse_difference(ours)
        needs.refuse_missing()
    except InvalidInput as wrong:
        return wrong
    return None


def carry_out(order: CellOrder) -> OrderResult:
    """Serve a request on the Dask worker that runs this task."""
    from distributed import get_worker

    worker = get_worker()
    if (wrong := inspect(order.installation, order.needs)) is not None:
        raise at(worker.address, wrong)
    worker.log_event(order.run, order.number)
    wanted = partial(_wanted, worker, worker.get_current_task())
    with _bench(order.run) as bench:
        return OrderResult(f"{platform.node()} ({platform.platform()})", bench.compute(order, wanted))


def at(worker: str, wrong: InvalidInput) -> InvalidInput:
    """Return a copy of an error with the worker's address at the beginning of its source."""
    return InvalidInput(
        wrong.field, wrong.value, wrong.rule, source=": ".join(filter(None, (worker, wrong.source)))
    )


class _Bench:
    """The processes of a run on this worker, which are terminated once their results are no longer wanted."""

    def __init__(self, run: str) -> None:
        self.users = 0
        self.left = 0.0  # when the last user left
        self._run = run
        self._pool = Pool()
        self._busy: dict[Worker, Callable[[], bool]] = {}
        self._ended: set[Worker] = set()
        Thread(target=self._keep, daemon=True).start()

    def compute(self, order: CellOrder, wanted: Callable[[], bool]) -> Reply | None:
        """Call the requested function in a process, and return the reply.

        Return None if the process was terminated because its result was no longer wanted.
        """
        with self._pool.borrow(MODULE, _nothing) as process:
            self._busy[process] = wanted
            try:
                reply = caller(process)(order.function, order.cell)
            finally:
                del self._busy[process]
        return None if process in self._ended else reply

    def _keep(self) -> None:
        """Terminate processes with unwanted results, until the bench has been unused for a while."""
        while not _dropped(self._run):
            sleep(_LOOK)
            for process, wanted in list(self._busy.items()):
                if not wanted():
                    self._ended.add(process)
                    process.kill()
        self._pool.close()


#: The benches of this worker by run, and the lock that guards them.
_BENCHES: dict[str, _Bench] = {}
_GUARD = Lock()


@contextmanager
def _bench(run: str) -> Iterator[_Bench]:
    """Yield the bench of a run, which is kept as long as it is in use."""
    with _GUARD:
        bench = _BENCHES[run] = _BENCHES.get(run) or _Bench(run)
        bench.users += 1
    try:
        yield bench
    finally:
        with _GUARD:
            bench.users -= 1
            bench.left = monotonic()


def _dropped(run: str) -> bool:
    """Drop the bench of a run if it has been unused for a while, and return whether it was dropped."""
    with _GUARD:
        bench = _BENCHES.get(run)
        if bench is None or bench.users or monotonic() - bench.left < _IDLE:
            return False
        del _BENCHES[run]
        return True


def _wanted(worker: Any, key: Any) -> bool:
    """Check whether a Dask worker is still meant to compute a task."""
    task = worker.state.tasks.get(key)
    return worker.status.name in _OPEN and task is not None and task.state in _COMPUTING


def _nothing() -> None:
    """Do nothing, as no check is needed before a process starts."""
