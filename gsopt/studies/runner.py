"""Runner: the cells of a study computed by several processes, each result stored the moment it is there.

One thread per worker process takes a cell, has it computed and stores the outcome, so that a kill loses no more
than the cells that are being computed. The workers are started like those of solvers: they end with this
process, however it ends.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from gsopt.backends.process import Worker
from gsopt.errors import InvalidInput, shorten
from gsopt.studies.cells import Cell, cells_of
from gsopt.studies.compute import compute
from gsopt.studies.outcome import Outcome, State
from gsopt.studies.results import Results, results
from gsopt.studies.spec import Study
from gsopt.studies.store import Store, writing

_TRIES = 2  # of a cell whose process dies
_TICK = 0.2  # seconds between two looks at the clock


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    finished, total
        Number of cells that have a result, and of all.
    failed
        Number of those that failed.
    left
        Expected seconds until the end, from the pace of this run; None before its first result.

    Examples
    --------
    >>> Progress(finished=2, total=4, failed=0, left=60.0).left
    60.0
    """

    finished: int
    total: int
    failed: int
    left: float | None


def run(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    retry: bool = False,
    on_progress: Callable[[Progress], Any] | None = None,
    source: str = "",
) -> Results:
    """Compute every cell of a study that has no result yet, and give all results.

    Parameters
    ----------
    study
        The study.
    folder
        Where its results are kept; made if need be.
    workers
        Number of processes; one per CPU when None. Solvers that share CPUs take longer: measure times with one.
    retry
        Whether cells that failed in earlier runs are computed again.
    on_progress
        Called with a `Progress` at the beginning and after each cell.
    source
        The study's file, for error messages.

    Returns
    -------
    Results
        Those of all cells; after Ctrl-C, those of the cells finished by then, and `interrupted` is set.

    Raises
    ------
    InvalidInput
        The study or the folder breaks a rule; nothing is computed then.
    Contradiction
        A value is better than a bound proven on the same instance. The results are kept.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> study = Study(study="example", instances=["reclaiming/aryl-figure-5"], methods=["greedy", "exact"])
    >>> with TemporaryDirectory() as folder:
    ...     found = run(study, folder, workers=1)
    >>> [(str(row.labels.method), row.figures["objective"]) for row in found]
    [('greedy', 1), ('exact', 1)]
    """
    count = os.cpu_count() or 1 if workers is None else workers
    if count < 1:
        raise InvalidInput("", "workers", shorten(workers), "must be at least 1")
    cells = cells_of(study, source)
    with writing(folder) as store:
        store.adopt(study, cells, count)
        if retry:
            store.forget_failures()
        states = store.finished()
        keys = {cell.key: cell for cell in cells}
        todo = [cell for key, cell in keys.items() if key not in states]
        failed = sum(states.get(key) is State.FAILED for key in keys)
        interrupted = _Run(store, todo, len(cells), failed, on_progress or _nothing).go(min(count, len(todo)))
    found = results(folder, interrupted=interrupted)
    found.refuse_contradictions()
    return found


class _Run:
    """The threads of one run, and what they share."""

    def __init__(
        self, store: Store, todo: Sequence[Cell], total: int, failed: int, tell: Callable[[Progress], Any]
    ) -> None:
        self._store = store
        self._waiting = deque(todo)
        self._total, self._finished, self._failed = total, total - len(todo), failed
        self._tell = tell
        self._news: SimpleQueue[Outcome | BaseException | None] = SimpleQueue()
        self._stopped = Event()
        self._lock = Lock()
        self._workers: set[Worker] = set()
        self._idle: list[Worker] = []

    def go(self, count: int) -> bool:
        """Compute all that is waiting; tell whether Ctrl-C ended it."""
        threads = [Thread(target=self._serve, daemon=True) for _ in range(count)]
        try:
            for thread in threads:
                thread.start()
            self._listen(count)
        except KeyboardInterrupt:
            return True
        finally:
            self._stop()
            for thread in threads:
                thread.join()
            for worker in self._workers:
                worker.close()
        return False

    def _listen(self, serving: int) -> None:
        """Tell the progress until every thread is done; raise what a thread raised."""
        begin, fresh = monotonic(), 0
        self._tell(Progress(self._finished, self._total, self._failed, None))
        while serving:
            try:
                news = self._news.get(timeout=_TICK)
            except Empty:
                continue
            if isinstance(news, BaseException):
                raise news
            if news is None:
                serving -= 1
                continue
            fresh += 1
            self._finished += 1
            self._failed += news.state is State.FAILED
            left = (monotonic() - begin) / fresh * (self._total - self._finished)
            self._tell(Progress(self._finished, self._total, self._failed, left))

    def _serve(self) -> None:
        """Compute cells in a process of one's own until none is waiting."""
        end: BaseException | None = None
        try:
            while (cell := self._next()) is not None:
                outcome = self._attempts(cell)
                if outcome is None:
                    break
                self._store.commit(cell, outcome)
                self._news.put(outcome)
        except BaseException as error:  # noqa: BLE001 - the main thread raises it
            end = None if self._stopped.is_set() else error
        self._news.put(end)

    def _attempts(self, cell: Cell) -> Outcome | None:
        """Give what came of a cell, tried again if its process dies; None once the run is stopped."""
        begin, message = monotonic(), ""
        for _ in range(_TRIES):
            with self._worker() as worker:
                self._store.begin(cell)
                reply = worker.call(compute, cell, limit=None, hear=_nothing)
            if isinstance(reply.answer, Outcome):
                return reply.answer
            if self._stopped.is_set():
                return None
            message = reply.message.removeprefix("the solver's ")  # the process is a solver's elsewhere
        return Outcome(State.FAILED, {}, monotonic() - begin, f"{message}, {_TRIES} times", "Crash")

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        """Borrow an idle process, or a new one."""
        with self._lock:
            worker = self._idle.pop() if self._idle else Worker("gsopt.studies.compute")
            fresh = worker not in self._workers
            self._workers.add(worker)
        if self._stopped.is_set():
            worker.kill()
        if fresh:
            worker.await_ready()
        yield worker
        if worker.alive:
            with self._lock:
                self._idle.append(worker)

    def _next(self) -> Cell | None:
        with self._lock:
            return self._waiting.popleft() if self._waiting and not self._stopped.is_set() else None

    def _stop(self) -> None:
        """End the processes at once, and with them the threads."""
        self._stopped.set()
        with self._lock:
            workers = list(self._workers)
        for worker in workers:
            worker.kill()


def _nothing(_: Any) -> None:
    """Say nothing."""
