"""Studies on the workers of Dask."""

import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import KilledWorker

from gsopt.cli.exits import describe
from gsopt.core.errors import InvalidInput, MissingSolver
from gsopt.core.versions import versions
from gsopt.solvers.backends.process import Reply
from gsopt.studies import Study, StudyProgress, cells_of, dask_cluster, dask_worker, run
from gsopt.studies.compute import compute, prove
from gsopt.studies.dask_cluster import LostScheduler
from gsopt.studies.dask_worker import CellOrder, OrderResult, inspect
from gsopt.studies.installation import Installation, installation
from gsopt.studies.needs import Needs
from gsopt.studies.store import reading
from tests.commands import COMMAND
from tests.dask_clusters import dask_client, pids
from tests.gsopt.studies.samples import FIGURE_5, HARD, committed, starts, study
from tests.processes import children, meanwhile, wait_until, wait_until_gone
from tests.refusals import assert_refused, refusal

#: Figures that a second run of a cell changes.
_TIMELESS = dict.fromkeys(("runtime", "decision_median", "decision_p99"), 0)

POISSON = {"workload": "poisson", "jobs": 300, "gpus": 16, "load": 1.2}


#: Methods of somebody's own: one that never ends, one whose process dies, and one that ends it.
OWN = """
import os, pathlib, signal, sys, threading

def wait(problem):
    pathlib.Path("begun").touch()
    threading.Event().wait()

def die(problem):
    os.kill(os.getpid(), signal.SIGKILL)

def leave(problem):
    sys.exit(0)
"""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Yield a client of a cluster of one worker with two threads in this process."""
    with dask_client(threads=2) as client:
        yield client


@pytest.fixture
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put one's own methods into the working directory, which is that of the worker too."""
    (tmp_path / "own_methods.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_methods", raising=False)


def start(home: Path, folder: Path, client: Any, grid: Study) -> subprocess.Popen[str]:
    """Start the command on a cluster."""
    spec = home / "study.json"
    spec.write_text(grid.model_dump_json())
    address = client.scheduler.address
    line = [*COMMAND, "study", "run", str(spec), "--out", str(folder), "--scheduler", address]
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True)


@contextmanager
def once_begun(folder: Path, act: Callable[[], object]) -> Iterator[set[int]]:
    """Act as soon as a method of one's own has begun; yield the processes that compute then."""
    before, computing = set(children(os.getpid())), set[int]()

    def wait() -> None:
        wait_until((folder / "begun").exists)
        computing.update(set(children(os.getpid())) - before)
        act()

    with meanwhile(wait):
        yield computing


def test_results_are_as_without_dask(tmp_path: Path, client: Any) -> None:
    """Every cell has the same figures, bounds among them, and is begun once; the run says where it was."""
    grid = study(instances=[FIGURE_5, {**POISSON, "seed": [1, 2]}], methods=["greedy", "exact", "fifo", "las"])
    found = run(grid, tmp_path, scheduler=client)
    assert len(starts(tmp_path)) == len(found) == 6
    for row, cell in zip(found, cells_of(grid), strict=True):
        alone = compute(cell, bound=None if cell.word else prove(cell)).figures
        assert {**alone, **_TIMELESS}.items() <= {**row.figures, **_TIMELESS}.items()
    with reading(tmp_path) as store:
        (kept,) = store.runs()
    assert kept.workers == 2
    assert kept.details["scheduler"] == client.scheduler.address
    assert kept.details["machines"] == [f"{platform.node()} ({platform.platform()})"]
    assert kept.packages == versions()


def test_kills_lose_only_what_was_being_computed(tmp_path: Path) -> None:
    """A worker and then the driver are killed: nothing computes on, and the next run has all results."""
    few, all_of_them = ([{**POISSON, "seed": list(range(number))}] for number in (4, 6))
    methods = ["fifo", "las"]
    endless = study(
        instances=[*few, HARD],
        methods=[*methods, {"method": "milp", "time_limit": 36000}],
        bound_evaluations=0,
    )
    grid = study(instances=all_of_them, methods=methods, bound_evaluations=0)
    folder = tmp_path / "out"
    with dask_client(processes=True) as client:
        with start(tmp_path, folder, client, endless) as driver:
            wait_until(lambda: len(committed(folder)) >= 2, driver)
            (worker,) = pids(client)
            os.kill(worker, signal.SIGKILL)
            wait_until(lambda: len(committed(folder)) == 8, driver)
            (worker,) = pids(client)
            wait_until(lambda: len(children(worker)) == 2, driver)  # the cell's and its solver's
            computing = children(worker)
            driver.kill()
        wait_until_gone(*computing)
        before = committed(folder)
        found = run(grid, folder, scheduler=client.scheduler.address)
        assert pids(client) == [worker]
    assert before.items() <= committed(folder).items()
    assert len(found) == 12
    for row, cell in zip(found, cells_of(grid), strict=True):
        alone = compute(cell, bound=prove(cell, evaluations=0))
        assert {**row.figures, **_TIMELESS} == {**alone.figures, **_TIMELESS}


@pytest.mark.usefixtures("_own")
def test_ctrl_c_ends_what_is_computed(tmp_path: Path, client: Any) -> None:
    """Ctrl-C ends a run; what it computes ends too, and the workers of the cluster stay."""
    with once_begun(tmp_path, partial(os.kill, os.getpid(), signal.SIGINT)) as computing:
        found = run(study(methods=["own_methods:wait"]), tmp_path / "out", scheduler=client.scheduler.address)
    assert found.interrupted
    assert found.missing == 1
    assert computing
    wait_until_gone(*computing)
    assert len(pids(client)) == 1


@pytest.mark.usefixtures("_own")
@pytest.mark.parametrize("with_dask", [False, True])
@pytest.mark.parametrize(
    ("method", "error", "message", "begun"),
    [
        ("die", "Crash", "process ended by SIGKILL, 2 times", 2),
        ("leave", "Exited", "leave must not end the program: SystemExit: 0", 1),
    ],
)
def test_a_method_that_ends_its_process_has_failed(
    tmp_path: Path, client: Any, with_dask: bool, method: str, error: str, message: str, begun: int
) -> None:
    """Where a process dies twice, or is ended, the cell says so, with Dask and without; the workers stay."""
    where = {"scheduler": client} if with_dask else {"workers": 1}
    (row,) = run(study(methods=[f"own_methods:{method}"]), tmp_path / "out", **where)
    assert (row.outcome.error, row.outcome.message) == (error, message)
    assert len(starts(tmp_path / "out")) == begun
    assert len(pids(client)) == 1


class Dying:
    """A client of Dask whose workers die with every task, of which so many begin before."""

    status = "running"

    def __init__(self, begin: int) -> None:
        self.scheduler = SimpleNamespace(address="tcp://host:8786")
        self.submitted = 0
        self._begin = begin

    def subscribe_topic(self, _topic: str, hear: Callable[[tuple[float, int]], object]) -> None:
        """Remember who wants to hear of the beginnings."""
        self._hear = hear

    def submit(self, _function: object, order: CellOrder, *, pure: bool) -> Future[OrderResult]:
        """Have all workers that a scheduler allows die; the last tasks are answered."""
        assert not pure
        self.submitted += 1
        future: Future[OrderResult] = Future()
        for _ in range(self._begin):
            self._hear((0.0, order.number))
        if self.submitted == 4:
            future.set_result(OrderResult("here", Reply("answer")))
        else:
            future.set_exception(KilledWorker("task", None, 3))
        return future


@pytest.mark.parametrize(("begin", "submitted"), [(4, 1), (2, 2), (0, 4)])
def test_only_cells_that_were_being_computed_are_blamed(begin: int, submitted: int) -> None:
    """A cell has failed once it was begun four times; one that only waited on dying workers is computed."""
    dying = Dying(begin)
    (cell,) = cells_of(study(methods=["greedy"]))
    with dask_cluster.DaskCluster(dying).borrow(lambda: None) as call:
        answer = call(compute, cell).answer
    assert dying.submitted == submitted
    if begin:
        assert answer.error == "Crash"
        assert answer.message == "the Dask worker died, 4 times"
    else:
        assert answer == "answer"


def test_a_run_waits_for_workers_and_says_so(tmp_path: Path) -> None:
    """Without workers a run notes it, and goes on when one joins."""
    heard: list[StudyProgress] = []
    with dask_client(0) as client:

        def listen(progress: StudyProgress) -> None:
            heard.append(progress)
            if progress.note:
                client.cluster.scale(1)

        found = run(study(methods=["greedy"]), tmp_path, scheduler=client.cluster, on_progress=listen)
        address = client.scheduler.address
    assert [(each.finished, each.note) for each in heard[:2]] == [
        (0, ""),
        (0, f"{address}: there is no worker; waiting for one"),
    ]
    assert heard[-1].note == ""
    assert found.missing == 0


@pytest.mark.usefixtures("_own")
def test_a_scheduler_that_vanishes_ends_the_run(tmp_path: Path) -> None:
    """A run whose scheduler is gone ends with one line and exit code 1, and nothing computes on."""
    with dask_client() as client:
        address, grid = client.scheduler.address, study(methods=["own_methods:wait"])
        with (
            once_begun(tmp_path, client.cluster.close) as computing,
            pytest.raises(LostScheduler) as lost,
        ):
            run(grid, tmp_path / "out", scheduler=address)
    assert describe(lost.value) == (f"{address}: the scheduler is gone; what is finished is kept", 1)
    assert computing
    wait_until_gone(*computing)


@pytest.mark.parametrize(
    ("scheduler", "rule"),
    [
        ("tcp://127.0.0.1:1", "'tcp://127.0.0.1:1': no scheduler of Dask answers there within 0.5 s"),
        ("nowhere", "'nowhere': must be the address of a Dask scheduler such as tcp://host:8786, or local:4"),
        ("foo://127.0.0.1:8786", "unknown address scheme 'foo'"),
        ("tls://127.0.0.1:8786", "TLS expects a `ssl_context`"),
        ("local:0", "'local:0': must be the address of a Dask scheduler"),
        ("local", "'local': must be the address of a Dask scheduler"),
        ("", "'': must be the address of a Dask scheduler"),
        (8786, "8786: must be the address of a Dask scheduler"),
    ],
)
def test_what_is_no_scheduler_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheduler: Any, rule: str
) -> None:
    """An address at which none answers, or that is none, is one line; nothing is written."""
    monkeypatch.setattr(dask_cluster, "_LIMIT", 0.5)
    refused = refusal(run, study(), tmp_path / "out", scheduler=scheduler)
    assert refused.startswith("scheduler: ")
    assert rule in refused
    assert not (tmp_path / "out").exists()


def test_a_worker_is_no_scheduler(tmp_path: Path, client: Any) -> None:
    """The address of a worker is refused as such."""
    (address,) = client.nthreads()
    assert_refused("must be a scheduler of Dask, not a worker", run, study(), tmp_path, scheduler=address)


def test_workers_come_from_the_scheduler(tmp_path: Path) -> None:
    """A number of workers beside a scheduler is refused."""
    with pytest.raises(InvalidInput, match="workers: 2: must not be given with a scheduler"):
        run(study(), tmp_path, workers=2, scheduler="local:2")


def test_without_dask_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Dask is not installed one line says what to install."""
    monkeypatch.setattr(dask_cluster, "find_spec", lambda _: None)
    with pytest.raises(MissingSolver, match=r"pip install distributed$"):
        run(study(), tmp_path, scheduler="local:2")


def older() -> Installation:
    """Return the installation of an older gsopt."""
    return {**installation(), "gsopt": "0.0.1"}


def test_other_versions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    """A worker with another gsopt is refused by name before anything is written."""
    monkeypatch.setattr(dask_cluster, "installation", older)
    refused = refusal(run, study(), tmp_path / "out", scheduler=client)
    (worker,) = client.nthreads()
    assert refused == f"{worker}: gsopt: 0.2.0: must be 0.0.1, as where the study was started"
    assert not (tmp_path / "out").exists()


def test_workers_that_join_later_are_held_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: Any
) -> None:
    """A worker that was not there at the beginning is refused with the first cell that it gets."""
    monkeypatch.setattr(dask_cluster.DaskCluster, "refuse_unfit", lambda *_: None)
    monkeypatch.setattr(dask_cluster, "installation", older)
    assert_refused(r"tcp://.*: gsopt: 0\.2\.0: must be 0\.0\.1", run, study(), tmp_path, scheduler=client)
    assert not committed(tmp_path)


def test_machines_without_gsopt_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, client: Any) -> None:
    """A worker that cannot even be asked is refused in one line."""

    def stranger(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'gsopt'")

    monkeypatch.setattr(dask_cluster, "inspect", stranger)
    with pytest.raises(InvalidInput, match=r"gsopt: must be 0\.2\.0, as .*: No module named 'gsopt'$"):
        run(study(), tmp_path, scheduler=client)


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    """A machine that lacks a file says so; one that lacks nothing says nothing."""
    missing = tmp_path / "a.csv"
    found = inspect(installation(), Needs(files=(str(missing),)))
    assert str(found) == f"{missing}: is not there"
    missing.touch()
    assert inspect(installation(), Needs(files=(str(missing),))) is None


def test_methods_may_lie_in_the_working_directory_of_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is sought there after what is installed."""
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    inspect(installation(), Needs())
    assert sys.path[-1] == str(tmp_path)


def test_processes_without_work_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker ends the processes of a run when there has been nothing to compute for a while."""
    monkeypatch.setattr(dask_worker, "_IDLE", 0.0)
    before = set(children(os.getpid()))
    with dask_client() as client:
        run(study(), tmp_path, scheduler=client)
        wait_until(lambda: set(children(os.getpid())) <= before)
