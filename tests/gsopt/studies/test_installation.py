"""What is installed, and what else cells take from the machine on which they are computed."""

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.versions import versions
from gsopt.scenario.job import Job, Workload
from gsopt.studies import installation as module
from gsopt.studies.cells import cells_of
from gsopt.studies.installation import installation, refuse_difference
from gsopt.studies.needs import Needs, needs_of
from tests.gsopt.studies.samples import FIGURE_5, study
from tests.refusals import assert_refused, refusal


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"gsopt": "0.0.1"}, r"gsopt: 0\.2\.0: must be 0\.0\.1, as where the study was started"),
        ({"code of gsopt": "abc"}, r"code of gsopt: [0-9a-f]{12}: must be abc, as"),
        ({"python": "3.99"}, r"python: 3\.\d+: must be 3\.99, as"),
        ({"highspy": "0.1"}, r"highspy: [0-9.]+: must be 0\.1, as"),
        ({"another": "1.0"}, r"another: not installed: must be 1\.0, as"),
    ],
)
def test_the_first_difference_is_named(changes: dict[str, str], line: str) -> None:
    """Another version, code or package is one line with what is here and what must be."""
    assert_refused(f"^{line}", refuse_difference, {**installation(), **changes})


def test_what_is_here_only_is_a_difference_too() -> None:
    """A package that the other side lacks is refused."""
    ours = {name: number for name, number in installation().items() if name != "scipy"}
    assert_refused(r"^scipy: .*: must be not installed", refuse_difference, ours)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder in which the packages seem to lie."""
    for name in ("gsopt", "heuristics/placement"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.py").write_text("1")
    monkeypatch.setattr(module, "_HOME", tmp_path)
    installation.cache_clear()
    yield tmp_path
    installation.cache_clear()


def test_every_source_counts(home: Path) -> None:
    """The fingerprint changes with the text, the name or the absence of any source, and with nothing else."""

    def fingerprint() -> str:
        installation.cache_clear()
        return installation()["code of gsopt"]

    found = [fingerprint()]
    (home / "heuristics/placement/a.py").write_text("2")
    found.append(fingerprint())
    (home / "heuristics/placement/a.py").rename(home / "heuristics/placement/b.py")
    found.append(fingerprint())
    (home / "gsopt/a.py").unlink()
    found.append(fingerprint())
    assert len(set(found)) == 4
    (home / "gsopt/notes.txt").write_text("3")
    assert fingerprint() == found[-1]


def test_versions_are_those_that_are_installed() -> None:
    """Every package is there with the version of its installation, and Python with its own."""
    found = versions()
    assert found.pop("python") == platform.python_version()
    assert found == {name: version(name) for name in found}
    assert {"gsopt", "highspy", "pyomo", "numpy"} <= found.keys()


def test_what_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that is not there has no version."""

    def installed(name: str) -> str:
        if name == "ortools":
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr("gsopt.core.versions.version", installed)
    assert "ortools" not in versions()
    assert versions()["highspy"] == "1.0"


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
    assert_refused(r"^module: mine_alone: must be the same file", needs.refuse_missing)


@pytest.mark.parametrize(
    ("needs", "line"),
    [
        (Needs(files=("absent.csv",)), "absent.csv: is not there"),
        (Needs(data=True), "GSOPT_DATA: must name the folder of the traces"),
        (Needs(modules=(("absent", "1"),)), "module: absent: must be installed, or be in the working"),
        (Needs(modules=(("absent.below", "1"),)), "module: absent.below: must be installed, or be in the"),
    ],
)
def test_what_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch, needs: Needs, line: str) -> None:
    """Whatever a machine lacks is named."""
    monkeypatch.delenv("GSOPT_DATA")
    assert refusal(needs.refuse_missing).startswith(line)
