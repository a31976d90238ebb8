"""A study runs gsopt's methods and the code beside it, and nothing else that it names."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gsopt.evaluation import catalogue
from gsopt.studies import CellState, Study, cells_of, run, write_page
from gsopt.studies.compute import compute, recorded
from gsopt.studies.store import writing
from tests.commands import gsopt, refused
from tests.gsopt.evaluation.test_catalogue import installed
from tests.gsopt.studies.samples import FIGURE_5, study
from tests.refusals import assert_refused

#: A module that tells when it is imported.
OWN = """
import pathlib
pathlib.Path(__file__).with_suffix(".imported").touch()
from heuristics.policies import srtf
from heuristics.reclaiming import greedy
"""

#: What a module must be.
RULE = "must be a module beside the study, or be allowed by --allow"
OURS = "must be a method or policy of gsopt"

WORKLOAD = {"workload": "batch", "jobs": 5, "gpus": 8}


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back where modules are looked for, and forget those of these tests."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("own_trusted", "own_package", "own_package.inner", "click_trusted"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def written(folder: Path, **changes: Any) -> Path:
    """Write a study into a folder."""
    folder.mkdir(exist_ok=True)
    path = folder / "study.json"
    path.write_text(study(**changes).model_dump_json())
    return path


def named(module: str, folder: Path, **changes: Any) -> tuple[Path, Study]:
    """Return a study that names the method of a module, and its file in a folder."""
    grid = study(methods=[f"{module}:greedy"], **changes)
    return written(folder, methods=[f"{module}:greedy"], **changes), grid


def _elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> Path:
    """Return a folder with a module, in which Python looks first."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / f"{module}.py").write_text(OWN)
    monkeypatch.syspath_prepend(elsewhere)
    return elsewhere


def test_a_study_file_alone_runs_no_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study that names a function of an installed package is refused in one line, and nothing has run."""
    monkeypatch.chdir(tmp_path)
    method = {"method": "click:edit", "editor": "sh -c 'id > pwned.txt'", "filename": "x"}
    path = written(tmp_path, methods=["greedy", method])
    line = f"gsopt: study.json: methods[1].method: 'click:edit': {RULE} click"
    assert refused("study", "run", path.name, "--out", "out") == line
    assert [file.name for file in tmp_path.iterdir()] == ["study.json"]


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("os:system", RULE),  # modules of Python itself do not lie in the working directory
        ("posix:system", RULE),
        ("builtins:exec", RULE),
        ("__main__:main", RULE),
        ("_frozen_importlib:_call_with_frames_removed", RULE),
        ("gsopt.core.files:write", OURS),
        ("gsopt.solvers.backends.process:subprocess.run", OURS),
        ("heuristics.policies.estimated:find_policy", OURS),
        ("heuristics.reclaiming:greedy.__class__", OURS),
        ("formulations.waiting.exact:find_spec", OURS),
    ],
)
def test_what_is_no_method_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, rule: str
) -> None:
    """Neither what Python brings, nor what gsopt's modules import and do to files, is a method or a policy."""
    monkeypatch.chdir(tmp_path)
    assert_refused(rule, cells_of, study(methods=[path]))


@pytest.mark.parametrize(
    ("instance", "path"),
    [
        (FIGURE_5, "heuristics.reclaiming:greedy"),
        (FIGURE_5, "formulations.reclaiming:milp"),
        (FIGURE_5, "formulations.reclaiming:exact"),
        (WORKLOAD, "heuristics.policies:srtf"),
        (WORKLOAD, "heuristics.policies.gavel:gavel"),
        ("scheduling/small/ares-figure-4", "heuristics.scheduling:srtf"),
    ],
)
def test_methods_and_policies_of_gsopt_are_named_by_their_path(instance: Any, path: str) -> None:
    """Heuristics, formulations, exact methods and policies of gsopt need no permission."""
    assert [cell.method for cell in cells_of(study(instances=[instance], methods=[path]))] == [path]


def test_modules_beside_the_study_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module beside the file is imported wherever the command is started, and its worker finds it, too."""
    named("own_trusted", tmp_path / "theirs")
    (tmp_path / "theirs" / "own_trusted.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    ended = gsopt("study", "run", "theirs/study.json", "--out", "out", "--workers", "1")
    assert ended == (0, "", "test: 1 of 1 cells have a result\n")


def test_packages_beside_the_study_are_its_own(tmp_path: Path) -> None:
    """A package beside the file counts with what is in it, with and without a file for itself."""
    path, grid = named("own_package.inner", tmp_path)
    (tmp_path / "own_package").mkdir()
    (tmp_path / "own_package" / "inner.py").write_text(OWN)
    assert len(cells_of(grid, str(path))) == 1
    (tmp_path / "own_package" / "__init__.py").touch()
    for name in ("own_package", "own_package.inner"):
        del sys.modules[name]
    assert len(cells_of(grid, str(path))) == 1


def test_modules_elsewhere_must_be_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that Python finds elsewhere is not imported, unless it is allowed; then it is run."""
    elsewhere = _elsewhere(tmp_path, monkeypatch, "own_trusted")
    path, grid = named("own_trusted", tmp_path / "theirs")
    for allow in ((), ("own",), ("own_trusted.deeper",)):
        assert_refused(f"{RULE} own_trusted", run, grid, tmp_path / "out", source=str(path), allow=allow)
    assert not (elsewhere / "own_trusted.imported").exists()
    assert not (tmp_path / "out").exists()
    assert len(cells_of(grid, str(path), allow=["own_trusted"])) == 1
    (elsewhere / "own_trusted.imported").unlink()
    del sys.modules["own_trusted"]
    ended = gsopt("study", "run", path, "--out", tmp_path / "out", "--workers", "1", "--allow", "own_trusted")
    assert ended == (0, "", "test: 1 of 1 cells have a result\n")
    assert (elsewhere / "own_trusted.imported").exists()


def test_the_name_of_a_module_beside_does_not_stand_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Python would import another module of the same name, the one beside the file is no excuse."""
    elsewhere = _elsewhere(tmp_path, monkeypatch, "click_trusted")
    path, grid = named("click_trusted", tmp_path / "theirs")
    (tmp_path / "theirs" / "click_trusted.py").touch()
    assert_refused(f"{RULE} click_trusted", cells_of, grid, str(path))
    assert not (elsewhere / "click_trusted.imported").exists()


def test_nothing_is_imported_before_all_is_checked(tmp_path: Path) -> None:
    """A module of one's own is not imported either where another method of the study is refused."""
    (tmp_path / "own_trusted.py").write_text(OWN)
    methods = ["own_trusted:greedy", "os:system"]
    assert_refused(r"methods\[1\]", cells_of, study(methods=methods), str(tmp_path / "study.json"))
    assert not (tmp_path / "own_trusted.imported").exists()


def test_policies_name_no_others_than_the_study_may(tmp_path: Path) -> None:
    """A policy that runs another one, named by an option, imports no more than the study itself may."""
    (tmp_path / "own_trusted.py").write_text(OWN)
    of = ["srtf", "own_trusted:srtf", "os:system"]
    policy = {"policy": "heuristics.policies.estimated:estimated", "of": of}
    cells = cells_of(study(instances=[WORKLOAD], methods=[policy]), str(tmp_path / "study.json"))
    outcomes = [compute(cell) for cell in cells]
    assert [outcome.state for outcome in outcomes] == [CellState.DONE, CellState.DONE, CellState.FAILED]
    assert outcomes[2].message == f"of: 'os:system': {RULE} os"
    assert_refused(RULE, recorded, cells[2])


def test_entry_points_need_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that an installed package declares is one of those that every study may name."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    installed(
        _elsewhere(tmp_path, monkeypatch, "own_trusted"),
        "[gsopt.methods]\nreclaiming/theirs = own_trusted:greedy\n",
    )
    try:
        cells = cells_of(study(methods=["theirs"]), str(theirs / "study.json"))
        assert compute(cells[0]).state is CellState.DONE
    finally:
        catalogue.entry_points_of.cache_clear()


def test_programs_name_what_they_like() -> None:
    """Outside of studies a function of any module is found."""
    found: object = catalogue.find_policy("os:getpid")
    assert found is os.getpid


def test_a_page_runs_no_more_than_its_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is drawn from a folder of results imports nothing that was not allowed."""
    theirs, here = tmp_path / "theirs", tmp_path / "here"
    for folder in (theirs, here):
        folder.mkdir()
    (theirs / "own_trusted.py").write_text(OWN)
    monkeypatch.chdir(here)
    grid = study(instances=[WORKLOAD], methods=["own_trusted:srtf"])
    (cell,) = cells_of(grid, str(theirs / "study.json"))
    with writing("out") as store:
        store.adopt(grid, [cell], 1)
        store.commit(cell, compute(cell))
    name = f"srtf on {cell.labels.instance}"
    assert_refused(RULE, write_page, "out", "page.html", gantts=[name])
    assert not (here / "page.html").exists()
    write_page("out", "page.html", gantts=[name], allow=["own_trusted"])


def test_what_is_allowed_is_a_name() -> None:
    """What cannot be the name of a module is refused."""
    for allow in ("own trusted", "", "own:trusted", 3):
        assert_refused("must be the name of a module", cells_of, study(), allow=[allow])
    assert FIGURE_5 in str(cells_of(study(), allow="own_trusted")[0])
