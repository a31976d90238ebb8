"""What runs on a worker of Dask."""

import os
import sys
from pathlib import Path

import pytest

from gsopt.studies import dask_worker, run
from gsopt.studies.dask_worker import inspect
from gsopt.studies.installation import installation
from gsopt.studies.needs import Needs
from tests.dask_clusters import dask_client
from tests.gsopt.studies.samples import study
from tests.processes import children, wait_until


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
