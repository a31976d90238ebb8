"""Verification: the verdicts on the best known values of many instances, reached in several processes."""

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from threading import Event
from typing import Any

from rich.console import RenderableType

from gsopt.core.budget import Budget
from gsopt.core.errors import GsoptError, InvalidInput, one_line, shorten
from gsopt.evaluation import catalogue
from gsopt.evaluation.listing import Listing
from gsopt.evaluation.tables import Column, lay_out
from gsopt.solvers.backends.process import Pool
from gsopt.studies.suites.known import Known
from gsopt.studies.suites.selection import by_suite, counted, select
from gsopt.studies.suites.verdict import Verdict, VerificationOutcome, examine

#: Default time limit of the exact method for each instance, in seconds.
TIME_LIMIT = 30.0

#: A process is killed after this multiple of the time limit plus this number of seconds. Normally, solving
#: stops at the limit, and reading is quick.
_PATIENCE, _MORE = 2.0, 60.0

_MODULE = "gsopt.studies.suites.verdict"  # what a worker process imports first


@dataclass(frozen=True, repr=False)
class Verification(Listing[Verdict]):
    """The verdicts on best known values.

    A verification prints as a table and is shown as one in notebooks.

    Attributes
    ----------
    rows
        The verdicts, in the order of the instances.
    total
        Number of selected instances.

    Examples
    --------
    >>> Verification((), total=4).missing
    4
    """

    rows: tuple[Verdict, ...]
    total: int

    @property
    def missing(self) -> int:
        """Number of instances not verified because of Ctrl-C."""
        return self.total - len(self.rows)

    def having(self, outcome: VerificationOutcome) -> tuple[Verdict, ...]:
        """Return the verdicts with a given outcome."""
        return tuple(row for row in self.rows if row.outcome is outcome)

    def table(self) -> RenderableType:
        """Return a table that counts the outcomes of each suite.

        Verdicts other than confirmed are listed below the table.
        """
        notes = [f"{row.instance}: {row.outcome.value}: {row.note}" for row in self.rows if row.note]
        return lay_out(self.columns(), notes=notes)

    def columns(self) -> list[Column]:
        """Return the columns of the table: the suite, the number of verdicts, and the number of each outcome.

        Outcomes other than confirmed get a column only if they occur.
        """
        suites = by_suite(self.rows, lambda row: row.known.suite)
        confirmed = VerificationOutcome.CONFIRMED
        shown = [each for each in VerificationOutcome if each is confirmed or self.having(each)]
        return counted(suites, shown, lambda row: row.outcome)

    def records(self) -> list[dict[str, Any]]:
        """Return every verdict with the values in the file and those found, as plain JSON types."""
        return [row.as_dict() for row in self.rows]


def verify(
    *what: str,
    time_limit: float | str = TIME_LIMIT,
    workers: int | None = None,
    on_verdict: Callable[[Verdict], Any] | None = None,
) -> Verification:
    """Verify the best known values of committed instances.

    The judge checks the stored solution and recomputes its value. If no error is found, the decision's exact
    method then starts from that solution and runs for at most the time limit. After Ctrl-C, the verdicts
    reached by then are returned.

    Parameters
    ----------
    what
        Names of decisions, suites and instances. By default, all instances.
    time_limit
        Time limit per instance, in seconds or as a string such as ``"2min"``.
    workers
        Number of processes. None for one per CPU, but no more than one per instance.
    on_verdict
        Called with each verdict as soon as it is reached.

    Raises
    ------
    InvalidInput
        A decision, suite or instance does not exist, or an option is out of range. In this case, nothing is
        computed.

    Examples
    --------
    >>> [row.outcome.value for row in verify("reclaiming/aryl-figure-5", time_limit=10, workers=1)]
    ['confirmed']
    """
    names = select(what)
    limit = Budget(time_limit=time_limit).time_limit
    if limit is None:
        raise InvalidInput("time_limit", "None", "must be given")
    count = min(os.cpu_count() or 1, len(names)) if workers is None else workers
    if count < 1:
        raise InvalidInput("workers", shorten(workers), "must be at least 1")
    found: dict[str, Verdict] = {}
    verdicts = _examine_all(names, limit, count)
    with closing(verdicts):
        try:
            for verdict in verdicts:
                found[verdict.instance] = verdict
                if on_verdict is not None:
                    on_verdict(verdict)
        except KeyboardInterrupt:
            pass
    return Verification(tuple(found[name] for name in names if name in found), len(names))


def call(task: tuple[str, float], link: Any) -> Verdict:
    """Examine an instance in a worker process."""
    del link
    name, time_limit = task
    try:
        return examine(name, time_limit=time_limit)
    except (GsoptError, MemoryError) as error:
        return _failed(name, one_line(error))


def _examine_all(names: Sequence[str], time_limit: float, workers: int) -> Generator[Verdict, None, None]:
    """Examine instances in processes, and yield each verdict as soon as it is reached.

    Closing the iterator terminates the processes.
    """
    pool, stopped = Pool(), Event()

    def refuse_stopped() -> None:
        if stopped.is_set():
            raise CancelledError

    def settle(name: str) -> Verdict:
        with pool.borrow(_MODULE, refuse_stopped) as worker:
            limit = _PATIENCE * time_limit + _MORE
            reply = worker.call(call, (name, time_limit), limit=limit, hear=lambda _: None)
        refuse_stopped()
        return reply.answer if isinstance(reply.answer, Verdict) else _failed(name, reply.message)

    threads = ThreadPoolExecutor(workers)
    try:
        for future in as_completed([threads.submit(settle, name) for name in names]):
            yield future.result()
    finally:
        stopped.set()
        threads.shutdown(wait=False, cancel_futures=True)
        pool.close()  # ends the processes at once, and with them the threads
        threads.shutdown()
        pool.close()


def _failed(name: str, why: str) -> Verdict:
    return Verdict(name, VerificationOutcome.FAILED, why, Known.of(catalogue.load(name)))
