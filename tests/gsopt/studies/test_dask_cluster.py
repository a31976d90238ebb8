"""Studies on the workers of Dask."""

import os
import platform
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import dask.config
import pytest

from gsopt.cli.exits import describe
from gsopt.errors import InvalidInput, MissingSolver
from gsopt.studies import Progress, State, Study, cells_of, dask_cluster, run
from gsopt.studies.compute import compute, prove
from gsopt.studies.dask_cluster import LostScheduler
from gsopt.studies.installation import Installation, installation
from gsopt.studies.store import reading
from gsopt.studies.versions import versions
from tests.commands import COMMAND
from tests.dask_clusters import dask_client, pids
from tests.gsopt.studies.samples import FIGURE_5, HARD, committed, starts, study
from tests.processes import children, wait_until, wait_until_gone

ENDLESS = study(instances=[HARD], methods=[{"method": "milp", "time_limit": 36000}])
POISSON = {"workload": "poisson", "jobs": 300, "gpus": 16, "load": 1.2}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Give a client of a cluster of one worker with two threads in this process."""
    with dask_client(threads=2) as client:
        yield client


def timeless(found: Any) -> list[dict[str, Any]]:
    """Give all that is known of the cells but times."""
    return [{**row.as_dict(), "wall": 0, "runtime": 0} for row in found]


def start(home: Path, folder: Path, client: Any, grid: Study) -> subprocess.Popen[str]:
    """Start the command on a cluster."""
    spec = home / "study.json"
    spec.write_text(grid.model_dump_json())
    address = client.scheduler.address
    line = [*COMMAND, "study", "run", str(spec), "--out", str(folder), "--scheduler", address]
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True)


@contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[None]:
    """Do something in a thread, which has ended at the end."""
    thread = Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join()


class Computing:
    """The processes that compute cells on a worker in this process, and those of their solvers."""

    def __init__(self) -> None:
        self._before = set(children(os.getpid()))

    def wait(self, driver: subprocess.Popen[str] | None = None) -> list[int]:
        """Wait until one has started that of a solver, and give all."""
        others = set() if driver is None else {driver.pid}

        def found() -> list[int]:
            return [pid for pid in set(children(os.getpid())) - self._before - others if children(pid)]

        wait_until(found, driver)
        return [each for pid in found() for each in [pid, *children(pid)]]


def test_results_are_those_of_own_processes(tmp_path: Path, client: Any) -> None:
    """Every cell has the same figures, bounds among them, and is begun once; the run says where it was."""
    grid = study(instances=[FIGURE_5, {**POISSON, "seed": [1, 2]}], methods=["greedy", "exact", "fifo", "las"])
    own = run(grid, tmp_path / "own", workers=1)
    found = run(grid, tmp_path / "dask", scheduler=client)

    assert timeless(found) == timeless(own)
    assert len(starts(tmp_path / "dask")) == len(found) == 6
    with reading(tmp_path / "dask") as store:
        (kept,) = store.runs()
    assert kept.workers == 2
    assert kept.details["scheduler"] == client.scheduler.address
    assert kept.details["machines"] == [f"{platform.node()} ({platform.platform()})"]
    assert kept.packages == versions()


def test_kills_lose_only_what_was_being_computed(tmp_path: Path) -> None:
    """A worker and then the driver are killed; the next run goes on, and all results are as without kills."""
    grid = study(instances=[{**POISSON, "seed": list(range(8))}], methods=["fifo", "las"], bound_evaluations=0)
    folder = tmp_path / "out"
    with dask_client(processes=True) as client:
        with start(tmp_path, folder, client, grid) as driver:
            wait_until(lambda: len(committed(folder)) >= 2, driver)
            (worker,) = pids(client)
            os.kill(worker, signal.SIGKILL)
            wait_until(lambda: len(committed(folder)) >= 5, driver)
            driver.kill()
        before = committed(folder)
        found = run(grid, folder, scheduler=client.scheduler.address)

    assert before.items() <= committed(folder).items()
    assert len(found) == 16
    for row, cell in zip(found, cells_of(grid), strict=True):
        alone = compute(cell, bound=prove(cell, evaluations=0))
        assert {**row.figures, "runtime": 0} == {**alone.figures, "runtime": 0}


def test_nothing_is_computed_for_a_dead_driver(tmp_path: Path, client: Any) -> None:
    """The driver is killed while a cell takes hours: the cell's processes end."""
    computing = Computing()
    with start(tmp_path, tmp_path / "out", client, ENDLESS) as driver:
        found = computing.wait(driver)
        driver.kill()
    wait_until_gone(*found)


def test_ctrl_c_ends_what_is_computed(tmp_path: Path, client: Any) -> None:
    """Ctrl-C ends a run; what it computes ends too, and the workers of the cluster stay."""
    computing, ended = Computing(), []

    def interrupt() -> None:
        ended.extend(computing.wait())
        os.kill(os.getpid(), signal.SIGINT)

    with meanwhile(interrupt):
        found = run(ENDLESS, tmp_path, scheduler=client.scheduler.address)

    assert found.interrupted
    assert found.missing == 1
    wait_until_gone(*ended)
    assert len(pids(client)) == 1


def test_a_cell_whose_process_dies_is_tried_once_more(tmp_path: Path, client: Any) -> None:
    """Killed twice, the process of a cell is a failure of the cell, told as without Dask."""
    computing = Computing()

    def kill() -> None:
        for _ in range(2):
            found = computing.wait()
            for pid in found:
                os.kill(pid, signal.SIGKILL)
            wait_until_gone(*found)

    with meanwhile(kill):
        (row,) = run(ENDLESS, tmp_path, scheduler=client)

    assert row.outcome.state is State.FAILED
    assert row.outcome.error == "Crash"
    assert row.outcome.message == "process ended by SIGKILL, 2 times"


def test_who_kills_a_worker_is_told_from_who_waited_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that kills its worker as often as the scheduler allows has failed; the one behind it is done."""
    (tmp_path / "killer.py").write_text(
        "import os, signal\n\n"
        "def kill(problem):\n"
        "    os.kill(os.getppid(), signal.SIGKILL)\n"
        "    raise SystemExit\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    grid = study(methods=["killer:kill", "greedy"])
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), dask_client(processes=True) as client:
        killed, behind = run(grid, tmp_path / "out", scheduler=client)

    assert killed.outcome.error == "Crash"
    assert killed.outcome.message == "the Dask worker died, 1 times"
    assert behind.outcome.state is State.DONE


def test_a_run_waits_for_workers_and_says_so(tmp_path: Path) -> None:
    """Without workers a run notes it, and goes on when one joins."""
    heard: list[Progress] = []
    with dask_client(0) as client:

        def listen(progress: Progress) -> None:
            heard.append(progress)
            if progress.note:
                client.cluster.scale(1)

        found = run(study(methods=["greedy"]), tmp_path, scheduler=client.cluster, on_progress=listen)
        address = client.scheduler.address

    assert [(each.finished, each.note) for each in heard[:2]] == [
        (0, ""),
        (0, f"{address}: no worker is there; waiting for one"),
    ]
    assert heard[-1].note == ""
    assert found.missing == 0


def test_a_scheduler_that_vanishes_ends_the_run(tmp_path: Path) -> None:
    """A run whose scheduler is gone ends with one line; the finished cells are kept."""
    grid = study(instances=[FIGURE_5, HARD], methods=[{"method": "milp", "time_limit": 36000}])
    computing, ended = Computing(), []
    with dask_client() as client:
        address = client.scheduler.address

        def vanish() -> None:
            wait_until(lambda: len(committed(tmp_path)) == 1 and len(starts(tmp_path)) == 2)
            ended.extend(computing.wait())
            client.cluster.close()

        with meanwhile(vanish), pytest.raises(LostScheduler) as lost:
            run(grid, tmp_path, scheduler=address)

    assert describe(lost.value) == (f"{address}: the scheduler is gone; what is finished is kept", 1)
    assert len(committed(tmp_path)) == 1
    wait_until_gone(*ended)


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
    with pytest.raises(InvalidInput) as refused:
        run(study(), tmp_path / "out", scheduler=scheduler)

    assert str(refused.value).startswith("scheduler: ")
    assert rule in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_worker_is_no_scheduler(tmp_path: Path, client: Any) -> None:
    """The address of a worker is refused as such."""
    (address,) = client.nthreads()
    with pytest.raises(InvalidInput, match="must be a scheduler of Dask, not a worker"):
        run(study(), tmp_path, scheduler=address)


def test_workers_come_from_the_scheduler(tmp_path: Path) -> None:
    """A number of workers beside a scheduler is refused."""
    with pytest.raises(InvalidInput, match="workers: 2: must not be given with a scheduler"):
        run(study(), tmp_path, workers=2, scheduler="local:2")


def test_without_dask_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Dask is not installed one line says what to install."""
    monkeypatch.setattr(dask_cluster, "find_spec", lambda _: None)
    with pytest.raises(MissingSolver, match=r'pip install "gsopt\[dask\]"'):
        run(study(), tmp_path, scheduler="local:2")


def older() -> Installation:
    """Give the installation of an older gsopt."""
    return {**installation(), "gsopt": "0.0.1"}


def test_other_versions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    """A worker with another gsopt is refused by name before anything is written."""
    monkeypatch.setattr(dask_cluster, "installation", older)
    with pytest.raises(InvalidInput) as refused:
        run(study(), tmp_path / "out", scheduler=client)

    (worker,) = client.nthreads()
    assert str(refused.value) == f"{worker}: gsopt: 0.1.0: must be 0.0.1, as where the study was started"
    assert not (tmp_path / "out").exists()


def test_workers_that_join_later_are_held_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: Any
) -> None:
    """A worker that was not there at the beginning is refused with the first cell that it gets."""
    monkeypatch.setattr(dask_cluster.DaskCluster, "refuse_unfit", lambda *_: None)
    monkeypatch.setattr(dask_cluster, "installation", older)
    with pytest.raises(InvalidInput, match=r"tcp://.*: gsopt: 0\.1\.0: must be 0\.0\.1"):
        run(study(), tmp_path, scheduler=client)
    assert not committed(tmp_path)


def test_machines_without_gsopt_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, client: Any) -> None:
    """A worker that cannot even be asked is refused in one line."""

    def stranger(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'gsopt'")

    monkeypatch.setattr(dask_cluster, "inspect", stranger)
    with pytest.raises(InvalidInput, match=r"gsopt: must be 0\.1\.0, as .*: No module named 'gsopt'$"):
        run(study(), tmp_path, scheduler=client)
