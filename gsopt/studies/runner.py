"""Runner: the run of a study, in which an executor computes the cells and each result is stored on arrival.

For each running cell, a thread waits for the executor and stores the outcome. If the program is killed, only
the running cells are lost.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.schedule.bounds import MeanBound
from gsopt.studies.cells import Cell, cells_of
from gsopt.studies.compute import compute, prove
from gsopt.studies.executor import Call, Executor, Processes
from gsopt.studies.results import Results, results
from gsopt.studies.rows import CellOutcome, CellState
from gsopt.studies.spec import Study
from gsopt.studies.store import Store, writing

_TRIES = 2  # of a cell whose process dies
_USUAL = -1  # evaluations, where the study does not say how many
_AHEAD = 2  # cells under way for each that is computed: the next is there when one is done
_LOOK = 1.0  # seconds between two looks at the executor


@dataclass(frozen=True)
class StudyProgress:
    """The progress of a run.

    Attributes
    ----------
    finished, total
        Number of finished cells, including failed ones, and number of all cells.
    failed
        Number of failed cells.
    left
        Expected remaining time in seconds if the run continues at the same pace; None before the first result
        of this run.
    note
        One-line reason why the run cannot continue at present; empty if it can.

    Examples
    --------
    >>> StudyProgress(finished=2, total=4, failed=0, left=60.0).left
    60.0
    """

    finished: int
    total: int
    failed: int
    left: float | None
    note: str = ""


def run(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    scheduler: Any = None,
    retry: bool = False,
    on_progress: Callable[[StudyProgress], Any] | None = None,
    source: str = "",
    allow: Iterable[str] = (),
) -> Results:
    """Compute the cells of a study that have no result yet, and return all results.

    A cell is one method, with its options and seed, on one instance.

    Parameters
    ----------
    study
        The study.
    folder
        Folder for the results, which is created if needed.
    workers
        Number of processes; one per CPU if None. Use 1 to measure run times, because solvers that share CPUs
        take longer.
    scheduler
        Dask scheduler whose workers compute the cells instead: an address such as ``"tcp://host:8786"``,
        ``"local:4"`` for four workers on this machine, or a Dask `Client` or cluster. `workers` must then be
        None.
    retry
        Whether to recompute the cells that failed in earlier runs.
    on_progress
        Called with a `StudyProgress` at the beginning, after each cell, and when its note changes.
    source
        Path of the study file, for error messages. Modules of methods may be in its folder, or in the working
        directory if `source` is empty.
    allow
        Names of further modules whose methods the study may use. Importing a module runs its code, so allow
        only modules that you trust.

    Returns
    -------
    Results
        The results of all cells or, after Ctrl-C, of the finished cells, with `interrupted` set.

    Raises
    ------
    InvalidInput
        The study, the folder, another argument or a worker of the scheduler breaks a rule. No cell is computed,
        except if the fault is found in a worker that joins later.
    LostScheduler
        The scheduler is no longer reachable. The results are kept.
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
    cells = cells_of(study, source, allow=allow)
    with _executor(workers, scheduler, cells) as executor, writing(folder) as store:
        store.adopt(study, cells, executor.workers)
        if retry:
            store.forget_failures()
        states = store.finished()
        keys = {cell.key: cell for cell in cells}
        todo = [cell for key, cell in keys.items() if key not in states]
        failed = sum(states.get(key) is CellState.FAILED for key in keys)
        begin = StudyProgress(len(cells) - len(todo), len(cells), failed, None)
        bounds = _Bounds(store, study.bound_evaluations)
        interrupted = _StudyRun(executor, store, bounds, begin, on_progress or _nothing).go(todo)
    found = results(folder, interrupted=interrupted)
    found.refuse_contradictions()
    return found


@contextmanager
def _executor(workers: int | None, scheduler: Any, cells: Sequence[Cell]) -> Iterator[Executor]:
    if scheduler is None:
        yield Processes(workers)
        return
    if workers is not None:
        rule = "must not be given with a scheduler, which has its own workers"
        raise InvalidInput("workers", shorten(workers), rule)
    from gsopt.studies.dask_cluster import dask_cluster

    with dask_cluster(scheduler, cells) as cluster:
        yield cluster


class _Bounds:
    """The bounds that hold for all policies on an instance, each of which is proven once and stored."""

    def __init__(self, store: Store, evaluations: int | None) -> None:
        self._store, self._evaluations = store, evaluations
        self._guard = Lock()
        self._locks: dict[str, Lock] = {}

    def of(self, cell: Cell, call: Call) -> MeanBound | None:
        """Return the bound for a policy's cell, or None if the proof fails.

        If the bound is not stored yet, the executor proves it.
        """
        share = _USUAL if self._evaluations is None else self._evaluations
        with self._guard:
            lock = self._locks.setdefault(cell.instance_key, Lock())
        with lock:
            known = self._store.bound(cell.instance_key, share)
            if known is not None:
                return known
            answer = call(partial(prove, evaluations=self._evaluations), cell).answer
            if not isinstance(answer, MeanBound):
                return None
            self._store.keep_bound(cell.instance_key, share, answer)
            return answer


class _StudyRun:
    """The threads of a run, and the state that they share."""

    def __init__(
        self,
        executor: Executor,
        store: Store,
        bounds: "_Bounds",
        begin: StudyProgress,
        tell: Callable[[StudyProgress], Any],
    ) -> None:
        self._executor = executor
        self._store = store
        self._bounds = bounds
        self._progress = begin
        self._tell = tell
        self._details: Mapping[str, Any] = {}
        self._stopped = Event()

    def go(self, cells: Sequence[Cell]) -> bool:
        """Compute cells, and return whether Ctrl-C ended the run."""
        threads = ThreadPoolExecutor(self._executor.threads)
        try:
            self._say(self._progress)
            self._look()
            self._feed(threads, deque(cells))
        except KeyboardInterrupt:
            return True
        finally:
            self._stopped.set()
            threads.shutdown(wait=False, cancel_futures=True)
            self._executor.close()  # lets go of the threads that wait for it
            threads.shutdown()
            self._executor.close()
        return False

    def _feed(self, threads: ThreadPoolExecutor, todo: deque[Cell]) -> None:
        """Pass cells to threads until all cells are done, and re-raise any exception raised in a thread."""
        start, before = monotonic(), self._progress.finished
        running: set[Future[CellOutcome]] = set()
        while todo or running:
            while todo and len(running) < max(1, _AHEAD * self._executor.workers):
                running.add(threads.submit(self._settle, todo.popleft()))
            done, running = wait(running, _LOOK, FIRST_COMPLETED)
            for future in done:
                self._count(future.result(), start, before)
            self._look()

    def _count(self, outcome: CellOutcome, start: float, before: int) -> None:
        """Update the progress and the expected remaining time after one more cell."""
        now = self._progress
        finished = now.finished + 1
        left = (monotonic() - start) / (finished - before) * (now.total - finished)
        failed = now.failed + (outcome.state is CellState.FAILED)
        self._say(replace(now, finished=finished, failed=failed, left=left))

    def _look(self) -> None:
        """Report any change of the executor's note, and store any change of its details."""
        if (note := self._executor.note) != self._progress.note:
            self._say(replace(self._progress, note=note))
        if (details := self._executor.details) != self._details:
            self._details = details
            self._store.note(details)

    def _say(self, progress: StudyProgress) -> None:
        self._progress = progress
        self._tell(progress)

    def _settle(self, cell: Cell) -> CellOutcome:
        """Have the executor compute a cell, and store and return the outcome."""
        outcome = self._attempts(cell)
        self._store.commit(cell, outcome)
        return outcome

    def _attempts(self, cell: Cell) -> CellOutcome:
        """Return the outcome of a cell, trying again if its process dies."""
        begin, message = monotonic(), ""
        for _ in range(_TRIES):
            with self._executor.borrow(self._refuse_stopped) as call:
                self._refuse_stopped()
                self._store.begin(cell)
                bound = None if cell.word else self._bounds.of(cell, call)
                reply = call(partial(compute, bound=bound), cell)
            if isinstance(reply.answer, CellOutcome):
                return reply.answer
            self._refuse_stopped()
            message = reply.message.removeprefix("the solver's ")  # the process is a solver's elsewhere
        return CellOutcome(CellState.FAILED, {}, monotonic() - begin, f"{message}, {_TRIES} times", "Crash")

    def _refuse_stopped(self) -> None:
        """Raise an exception that ends the work of this thread if the run has been stopped."""
        if self._stopped.is_set():
            raise CancelledError


def _nothing(_: Any) -> None:
    """Ignore progress."""
