"""Runner: the cells of a study computed by several processes, each result stored the moment it is there.

One thread per worker process takes a cell, has it computed and stores the outcome, so that a kill loses no more
than the cells that are being computed. The workers are those of solvers, in a pool of their own: they end with
this process, however it ends.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import Any

from gsopt.backends.process import Pool, Worker
from gsopt.bounds import MeanBound
from gsopt.errors import InvalidInput, shorten
from gsopt.studies.cells import Cell, cells_of
from gsopt.studies.compute import compute, prove
from gsopt.studies.outcome import Outcome, State
from gsopt.studies.results import Results, results
from gsopt.studies.spec import Study
from gsopt.studies.store import Store, writing

_TRIES = 2  # of a cell whose process dies
_USUAL = -1  # evaluations, where the study does not say how many
_MODULE = "gsopt.studies.compute"  # what a worker process imports first


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
        begin = Progress(len(cells) - len(todo), len(cells), failed, None)
        bounds = _Bounds(store, study.bound_evaluations)
        interrupted = _Run(store, bounds, begin, on_progress or _nothing).go(todo, count)
    found = results(folder, interrupted=interrupted)
    found.refuse_contradictions()
    return found


class _Bounds:
    """What is proven of all policies on each instance: once for all cells of it, and kept in the store."""

    def __init__(self, store: Store, evaluations: int | None) -> None:
        self._store, self._evaluations = store, evaluations
        self._guard = Lock()
        self._locks: dict[str, Lock] = {}

    def of(self, cell: Cell, worker: Worker) -> MeanBound | None:
        """Give the bound for a policy's cell, proven by a worker if it is not there yet; None if it fails."""
        share = _USUAL if self._evaluations is None else self._evaluations
        with self._guard:
            lock = self._locks.setdefault(cell.instance_key, Lock())
        with lock:
            known = self._store.bound(cell.instance_key, share)
            if known is not None:
                return known
            answer = worker.call(
                partial(prove, evaluations=self._evaluations), cell, limit=None, hear=_nothing
            ).answer
            if not isinstance(answer, MeanBound):
                return None
            self._store.keep_bound(cell.instance_key, share, answer)
            return answer


class _Run:
    """The threads of one run, and what they share."""

    def __init__(
        self, store: Store, bounds: "_Bounds", begin: Progress, tell: Callable[[Progress], Any]
    ) -> None:
        self._store = store
        self._bounds = bounds
        self._begin = begin
        self._tell = tell
        self._pool = Pool()
        self._stopped = Event()

    def go(self, cells: Sequence[Cell], workers: int) -> bool:
        """Compute cells; tell whether Ctrl-C ended it."""
        threads = ThreadPoolExecutor(workers)
        try:
            self._tell(self._begin)
            self._listen([threads.submit(self._settle, cell) for cell in cells])
        except KeyboardInterrupt:
            return True
        finally:
            self._stopped.set()
            threads.shutdown(wait=False, cancel_futures=True)
            self._pool.close()  # ends the processes at once, and with them the threads
            threads.shutdown()
            self._pool.close()
        return False

    def _listen(self, settled: Sequence[Future[Outcome]]) -> None:
        """Tell the progress until every cell is settled; raise what a thread raised."""
        start, failed, total = monotonic(), self._begin.failed, self._begin.total
        for fresh, future in enumerate(as_completed(settled), start=1):
            failed += future.result().state is State.FAILED
            finished = self._begin.finished + fresh
            left = (monotonic() - start) / fresh * (total - finished)
            self._tell(Progress(finished, total, failed, left))

    def _settle(self, cell: Cell) -> Outcome:
        """Compute a cell in a process and store what came of it."""
        outcome = self._attempts(cell)
        self._store.commit(cell, outcome)
        return outcome

    def _attempts(self, cell: Cell) -> Outcome:
        """Give what came of a cell, tried again if its process dies."""
        begin, message = monotonic(), ""
        for _ in range(_TRIES):
            with self._pool.borrow(_MODULE, self._refuse_stopped) as worker:
                self._refuse_stopped()
                self._store.begin(cell)
                bound = None if cell.word else self._bounds.of(cell, worker)
                reply = worker.call(partial(compute, bound=bound), cell, limit=None, hear=_nothing)
            if isinstance(reply.answer, Outcome):
                return reply.answer
            self._refuse_stopped()
            message = reply.message.removeprefix("the solver's ")  # the process is a solver's elsewhere
        return Outcome(State.FAILED, {}, monotonic() - begin, f"{message}, {_TRIES} times", "Crash")

    def _refuse_stopped(self) -> None:
        """End this thread's work once the run is stopped; nobody looks at what it raises."""
        if self._stopped.is_set():
            raise CancelledError


def _nothing(_: Any) -> None:
    """Say nothing."""
