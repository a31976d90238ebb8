"""Dask cluster: an executor that computes cells on Dask workers on any number of machines.

The scheduler holds about two cells per worker thread at any time. A worker thus gets its next cell without
waiting, and even a large grid takes little memory in the scheduler. If a worker dies, only the cells that it
was computing are lost, and other workers compute them again. If this happens to a cell several times, the cell
fails.
"""

import asyncio
import logging
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib.util import find_spec
from itertools import count
from time import monotonic
from typing import Any
from uuid import uuid4

from gsopt.core.errors import GsoptError, InvalidInput, MissingSolver, one_line, shorten
from gsopt.solvers.backends.process import Reply
from gsopt.studies.cells import Cell
from gsopt.studies.dask_worker import CellOrder, OrderResult, at, carry_out, inspect
from gsopt.studies.executor import Call
from gsopt.studies.installation import installation
from gsopt.studies.needs import Needs, needs_of
from gsopt.studies.rows import CellOutcome, CellState

_LIMIT = 10.0  # seconds in which a scheduler must answer
_LOOK = 1.0  # seconds between two looks at what workers there are
_ROUNDS = 10  # in which a cell may be on dying workers, even if no start of the cell was reported

#: Address with any free port, reachable only from this machine.
_HERE = "127.0.0.1:0"

#: Pattern of a request for a given number of workers on this machine.
_LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")

_RULE = "must be the address of a Dask scheduler such as tcp://host:8786, or local:4 for four workers here"


class LostScheduler(GsoptError):
    """Error raised when the scheduler is no longer reachable, or has dropped a cell."""


class DaskCluster:
    """An `Executor` that uses the workers of a Dask scheduler, including workers that join later."""

    threads = 2_000

    def __init__(self, client: Any) -> None:
        self._client = client
        self._name = client.scheduler.address
        self._run = f"gsopt-{uuid4().hex}"
        self._numbers = count()
        self._begun: Counter[int] = Counter()
        self._machines: set[str] = set()
        self._futures: set[Any] = set()
        self._closed = False
        self._workers, self._looked = 0, -_LOOK
        client.subscribe_topic(self._run, self._hear)

    @property
    def workers(self) -> int:
        """Number of threads of all current workers."""
        if monotonic() - self._looked >= _LOOK:
            self._refuse_lost()
            try:
                self._workers = sum(self._client.nthreads().values())
            except OSError:
                raise self._lost("is gone") from None
            self._looked = monotonic()
        return self._workers

    @property
    def details(self) -> Mapping[str, Any]:
        """The address of the scheduler, and the machines whose workers have computed cells."""
        return {"scheduler": self._name, "machines": sorted(self._machines)}

    @property
    def note(self) -> str:
        """A message saying that the scheduler has no worker; empty if it has one."""
        return "" if self.workers else f"{self._name}: there is no worker; waiting for one"

    def borrow(self, check: Callable[[], None]) -> AbstractContextManager[Call]:
        """Return a context manager that yields a function that runs calls on workers."""
        check()
        return nullcontext(self._call)

    def refuse_unfit(self, cells: Sequence[Cell]) -> None:
        """Raise `InvalidInput` if a worker lacks files or modules that cells need, or an installation differs.

        Workers and the scheduler must have the same versions of packages and the same code of gsopt as this
        process.
        """
        wanted = (installation(), needs_of(cells))
        found = self._client.run(inspect, *wanted, on_error="return")
        for worker, wrong in sorted(found.items()):
            _refuse(worker, wrong)
        try:
            wrong = self._client.run_on_scheduler(inspect, installation(), Needs())
        except Exception as error:  # noqa: BLE001 - whatever hinders it there
            wrong = error
        _refuse(self._name, wrong)

    def close(self) -> None:
        """Cancel all unfinished cells, and release the threads that wait for them."""
        self._closed = True
        if self._client.status == "running":
            self._client.cancel(list(self._futures), force=True)

    def _call(self, function: Callable[..., Any], cell: Cell) -> Reply:
        """Call a function with a cell on a worker.

        If the worker dies, other workers are tried as often as the scheduler allows.
        """
        from distributed import KilledWorker

        begin = monotonic()
        order = CellOrder(self._run, next(self._numbers), installation(), needs_of([cell]), function, cell)
        for tried in count(1):
            try:
                answer = self._answer(order)
            except KilledWorker as killed:
                deaths = killed.allowed_failures + 1
                if self._begun[order.number] < deaths and tried < _ROUNDS:
                    continue  # it waited behind those that were computed when their workers died
                message = f"the Dask worker died, {deaths} times"
                return Reply(CellOutcome(CellState.FAILED, {}, monotonic() - begin, message, "Crash"))
            self._machines.add(answer.machine)
            if not self._workers:
                self._looked = -_LOOK  # somebody has joined since
            if answer.reply is not None:
                self._begun.pop(order.number, None)
                return answer.reply
        raise AssertionError  # there is always a next number

    def _answer(self, order: CellOrder) -> OrderResult:
        from distributed import KilledWorker

        self._refuse_lost()
        future = self._client.submit(carry_out, order, pure=False)
        self._futures.add(future)
        try:
            answer: OrderResult = future.result()
        except CancelledError:
            self._refuse_lost()
            raise self._lost("has dropped a cell") from None
        except (GsoptError, KilledWorker):
            raise
        except Exception as error:  # noqa: BLE001 - that of a worker which cannot even read what it is to do
            raise InvalidInput(
                "", "", f"a worker cannot compute: {one_line(error)}", source=self._name
            ) from None
        finally:
            self._futures.discard(future)
        return answer

    def _refuse_lost(self) -> None:
        if self._closed:
            raise CancelledError
        if self._client.status != "running":
            raise self._lost("is gone")

    def _lost(self, how: str) -> "LostScheduler":
        return LostScheduler(f"{self._name}: the scheduler {how}; what is finished is kept")

    def _hear(self, event: tuple[float, int]) -> None:
        """Count a start of a request, as reported by a worker."""
        self._begun[event[1]] += 1


def _refuse(machine: str, wrong: Exception | None) -> None:
    """Raise `InvalidInput` if a machine is unfit, or if its gsopt is missing or too different."""
    if isinstance(wrong, InvalidInput):
        raise at(machine, wrong)
    if wrong is not None:
        rule = f"must be {installation()['gsopt']}, as where the study was started: {one_line(wrong)}"
        raise InvalidInput("gsopt", "", rule, source=machine)


@contextmanager
def dask_cluster(scheduler: Any, cells: Sequence[Cell]) -> Iterator[DaskCluster]:
    """Yield an executor on a Dask scheduler's workers, after checking that they can compute the cells.

    The scheduler is given as an address, as ``local:4``, or as a Dask client or cluster. ``local:4`` starts
    four workers on this machine, which are terminated afterwards. A client or cluster is left open.
    """
    if find_spec("distributed") is None:
        raise MissingSolver("studies on Dask need distributed: pip install distributed")
    with ExitStack() as opened:
        cluster = DaskCluster(_client(scheduler, opened))
        cluster.refuse_unfit(cells)
        yield cluster


def _client(scheduler: Any, opened: ExitStack) -> Any:
    """Return a client of the scheduler.

    Everything that is opened for the client is closed with the exit stack.
    """
    from distributed import Client
    from distributed.deploy import Cluster
    from distributed.utils import LoopRunner

    if isinstance(scheduler, Client):
        return scheduler
    if isinstance(scheduler, str):
        opened.enter_context(_quiet())
        if local := _LOCAL.fullmatch(scheduler):
            scheduler = opened.enter_context(_local_cluster(int(local[1])))
        elif scheduler.startswith("local"):
            raise _refused(scheduler)
        else:
            LoopRunner().run_sync(_refuse_other, scheduler)
    elif not isinstance(scheduler, Cluster):
        raise _refused(scheduler)
    return opened.enter_context(Client(scheduler, timeout=_LIMIT, set_as_default=False))


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """Yield a cluster within this process, whose workers compute cells in separate processes.

    The cluster is not accessible from other machines. All communication is in memory. The web servers that Dask
    always starts listen only on this machine and serve no content.
    """
    import dask
    from distributed import LocalCluster

    nothing: dict[str, list[str]] = {f"distributed.{each}.http.routes": [] for each in ("scheduler", "worker")}
    with (
        dask.config.set(nothing),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=False,
            protocol="inproc://",
            dashboard_address=_HERE,
            worker_dashboard_address=_HERE,
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


async def _refuse_other(address: str) -> None:
    """Raise an error if no scheduler answers at the address in time; a Dask client would retry forever."""
    from distributed import rpc
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    try:
        async with asyncio.timeout(_LIMIT), rpc(address, connection_args=arguments) as peer:
            kind = (await peer.identity())["type"]
    except OSError:
        raise _refused(address, f"no scheduler of Dask answers there within {_LIMIT:g} s") from None
    except Exception as error:  # noqa: BLE001 - whatever it is that answers
        raise _refused(address, f"{_RULE}: {one_line(error)}") from None
    if kind != "Scheduler":
        raise _refused(address, f"must be a scheduler of Dask, not a {kind.lower()}")


def _refused(scheduler: Any, rule: str = _RULE) -> InvalidInput:
    return InvalidInput("scheduler", shorten(scheduler), rule)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress Dask's log messages and warnings on the terminal."""
    names = ("distributed", "distributed.client", "distributed.gc", "tornado.application")
    held = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in held.items():
            logging.getLogger(name).setLevel(level)
