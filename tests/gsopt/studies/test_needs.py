"""What cells take from the machine on which they are computed."""

from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Workload
from gsopt.studies.cells import cells_of
from gsopt.studies.needs import Needs, needs_of
from tests.gsopt.studies.samples import FIGURE_5, study


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("GSOPT_DATA", str(tmp_path))


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        (FIGURE_5, Needs()),
        ({"workload": "poisson", "jobs": 5, "gpus": 8, "load": 1.0}, Needs()),
        ({"workload": "jobs.json", "gpus": 8}, Needs(files=("jobs.json",))),
        ({"reader": "sia", "trace": "philly", "gpus": 8}, Needs(data=True)),
        ({"reader": "sia", "trace": "philly", "gpus": 8, "path": "traces"}, Needs(files=("traces",))),
        ({"scenario": "aryl"}, Needs()),
        ({"scenario": "aryl", "real": True}, Needs(data=True)),
        ({"scenario": "aryl", "path": "traces"}, Needs(files=("traces",))),
    ],
)
def test_files_and_folders_are_needed(tmp_path: Path, entry: Any, wanted: Needs) -> None:
    """Files that instances are read from are needed, those of gsopt are not."""
    (tmp_path / "traces").mkdir()
    jobs = Workload(jobs=[Job(name="a", release_date=0, duration=60, gpus=4)])
    (tmp_path / "jobs.json").write_text(jobs.model_dump_json())
    method = "greedy" if entry == FIGURE_5 else "fifo"

    assert needs_of(cells_of(study(instances=[entry], methods=[method]))) == wanted


def test_a_module_is_needed_as_it_is(tmp_path: Path) -> None:
    """The module of one's own method must be there, with the same text."""
    (tmp_path / "mine_alone.py").write_text("from heuristics.reclaiming import greedy\n")
    needs = needs_of(cells_of(study(methods=["mine_alone:greedy"])))
    needs.refuse_missing()

    (tmp_path / "mine_alone.py").write_text("")
    with pytest.raises(InvalidInput, match=r"^module: mine_alone: must be the same file"):
        needs.refuse_missing()


@pytest.mark.parametrize(
    ("needs", "line"),
    [
        (Needs(files=("absent.csv",)), "absent.csv: is not there"),
        (Needs(data=True), "GSOPT_DATA: must name the folder of the traces"),
        (
            Needs(modules=(("absent", "1"),)),
            "module: absent: must be installed, or lie in the working",
        ),
        (Needs(modules=(("absent.below", "1"),)), "module: absent.below: must be installed, or lie in the"),
    ],
)
def test_what_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch, needs: Needs, line: str) -> None:
    """Whatever a machine lacks is named."""
    monkeypatch.delenv("GSOPT_DATA")
    with pytest.raises(InvalidInput) as refused:
        needs.refuse_missing()
    assert str(refused.value).startswith(line)
