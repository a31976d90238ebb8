"""A study's folder, and where its results come from."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.versions import versions
from gsopt.schedule.bounds import MeanBound
from gsopt.studies.cells import Cell, cells_of
from gsopt.studies.provenance import ReadFile, StudyRun
from gsopt.studies.rows import CellOutcome, CellState
from gsopt.studies.store import Store, reading, writing
from tests.gsopt.studies.samples import FIGURE_5, study

DONE = CellOutcome(CellState.DONE, {"objective": 1, "share": 0.5, "status": "optimal"}, 0.25)
FAILED = CellOutcome(CellState.FAILED, {}, 0.25, "demand: -1: must be at least 0", "InvalidInput")


def keep(store: Store, cells: Sequence[Cell], *outcomes: CellOutcome, workers: int = 1) -> None:
    """Adopt the cells of a study, and commit their outcomes."""
    store.adopt(study(), cells, workers)
    for cell, outcome in zip(cells, outcomes, strict=True):
        store.commit(cell, outcome)


def test_what_is_committed_is_read_back(tmp_path: Path) -> None:
    """Results come back as they were, in the order of the grid and under its labels."""
    cells = cells_of(study(seeds=[0, 1]))
    with writing(tmp_path / "new" / "folder") as store:
        store.adopt(study(), cells, 1)
        for cell, outcome in zip(reversed(cells), [DONE, FAILED, DONE], strict=True):
            store.begin(cell)
            store.commit(cell, outcome)
    with reading(tmp_path / "new" / "folder") as store:
        rows = store.rows()
        assert store.study() == ("test", 3)
    assert [row.outcome for row in rows] == [DONE, FAILED, DONE]
    assert [row.labels for row in rows] == [cell.labels for cell in cells]
    assert [row.seed for row in rows] == [0, 1, None]


def test_a_result_can_be_committed_once_only(tmp_path: Path) -> None:
    """The database itself refuses a second result of a cell."""
    (cell,) = cells_of(study(methods=["exact"]))
    with writing(tmp_path) as store:
        keep(store, [cell], DONE)
        with pytest.raises(InvalidInput, match="UNIQUE"):
            store.commit(cell, DONE)


def test_cells_that_left_the_grid_are_kept_but_not_shown(tmp_path: Path) -> None:
    """Narrowing a study hides results, and widening it again shows them without computing."""
    wide, narrow = study(), study(methods=["exact"])
    with writing(tmp_path) as store:
        keep(store, cells_of(wide), DONE, DONE)
        store.adopt(narrow, cells_of(narrow), 1)
        assert len(store.rows()) == 1
        store.adopt(wide, cells_of(wide), 1)
        assert len(store.rows()) == 2


def test_bounds_are_kept(tmp_path: Path) -> None:
    """A bound is kept for its instance and number of evaluations, across runs, and may be replaced."""
    with writing(tmp_path) as store:
        assert store.bound("a", 60) is None
        store.keep_bound("a", 60, MeanBound(2.5, "prices"))
        store.keep_bound("a", 60, MeanBound(3.5, "prices"))
    with writing(tmp_path) as store:
        assert store.bound("a", 60) == MeanBound(3.5, "prices")
        assert (store.bound("a", 61), store.bound("b", 60)) == (None, None)


def test_failures_can_be_forgotten(tmp_path: Path) -> None:
    """Only failed results are dropped."""
    cells = cells_of(study())
    with writing(tmp_path) as store:
        keep(store, cells, DONE, FAILED)
        store.forget_failures()
        assert store.finished() == {cells[0].key: CellState.DONE}


def test_another_studys_folder_is_refused(tmp_path: Path) -> None:
    """A folder holds the results of one study."""
    with writing(tmp_path) as store:
        store.adopt(study(), [], 1)
        with pytest.raises(InvalidInput, match="holds the results of the study 'test'; give 'other' its own"):
            store.adopt(study(study="other"), [], 1)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    """While one run has the folder another is refused, but the results can be read; afterwards it is free."""
    with writing(tmp_path) as store:
        store.adopt(study(), [], 1)
        with pytest.raises(InvalidInput, match=r"is in use by another run, process \d+"), writing(tmp_path):
            pass
        with reading(tmp_path) as other:
            assert other.rows() == []
    with writing(tmp_path) as store:
        assert store.finished() == {}


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough" * 100, b"SQLite format 3\x00" + bytes(84)]
)
def test_a_damaged_database_is_one_line(tmp_path: Path, content: bytes) -> None:
    """A database that is none gives one line, for reading and for writing."""
    (tmp_path / "study.sqlite").write_bytes(content)
    for way in (reading, writing):
        with pytest.raises(InvalidInput) as refused, way(tmp_path):
            pass
        assert str(refused.value).startswith(f"{tmp_path}: study.sqlite: cannot be used: ")


def test_a_foreign_database_is_one_line(tmp_path: Path) -> None:
    """A database of something else is left alone."""
    with sqlite3.connect(tmp_path / "study.sqlite") as database:
        database.execute("CREATE TABLE pets (name TEXT)")
    database.close()
    with pytest.raises(InvalidInput, match="was written by another version of gsopt"), writing(tmp_path):
        pass


def test_it_is_kept_where_results_come_from(tmp_path: Path) -> None:
    """The study, the runs that computed cells of it with their versions, and the files of its instances."""
    grid = study()
    first, second = cells_of(study(instances=[FIGURE_5, "reclaiming/small"], methods=["greedy"]))[:2]
    read = replace(DONE, sources={"b.csv": "2", "a.csv": "1"})
    with writing(tmp_path) as store:
        keep(store, [first], read)
    with writing(tmp_path) as store:
        store.adopt(grid, [first, second], 3)
        store.commit(second, read)
    with writing(tmp_path) as store:
        store.adopt(grid, [first, second], 7)  # finds nothing to do
        assert json.loads(store.spec()) == json.loads(grid.model_dump_json())
        assert [(run.workers, run.cells) for run in store.runs()] == [(1, 1), (3, 1)]
        assert {run.version for run in store.runs()} == {versions()["gsopt"]}
        assert store.runs()[0].packages == versions()
        assert store.sources() == [ReadFile("a.csv", "1"), ReadFile("b.csv", "2")]
        store.adopt(grid, [], 1)
        assert (store.runs(), store.sources()) == ([], [])


def test_a_file_that_changed_has_both_digests(tmp_path: Path) -> None:
    """Cells of one instance that read different contents under one path leave both."""
    with writing(tmp_path) as store:
        keep(store, cells_of(study()), *(replace(DONE, sources={"a.csv": digest}) for digest in "21"))
        assert store.sources() == [ReadFile("a.csv", "1"), ReadFile("a.csv", "2")]


def _as_before(folder: Path) -> None:
    """Take a folder back to the layout before."""
    database = sqlite3.connect(folder / "study.sqlite")
    database.executescript(
        "DROP TABLE source; ALTER TABLE run DROP COLUMN details; PRAGMA user_version = 2;"
        " PRAGMA wal_checkpoint(TRUNCATE);"
    )
    database.close()


@pytest.mark.parametrize("writable", [True, False])
def test_folders_of_the_layout_before_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, writable: bool
) -> None:
    """Their results and runs are there, without what was not kept then, also where they must not be written."""
    with writing(tmp_path) as store:
        keep(store, cells_of(study()), DONE, DONE, workers=2)
    _as_before(tmp_path)
    monkeypatch.setattr("gsopt.studies.store.os.access", lambda *_: writable)
    for _ in range(2):
        with reading(tmp_path) as store:
            assert [row.outcome for row in store.rows()] == [DONE, DONE]
            assert [(run.workers, run.cells, run.packages) for run in store.runs()] == [(2, 2, {})]
            assert store.sources() == []


def test_folders_of_the_layout_before_are_continued(tmp_path: Path) -> None:
    """A run in such a folder keeps what was there, and notes what runs note now."""
    grid = study()
    first, second = cells_of(grid)
    with writing(tmp_path) as store:
        keep(store, [first], DONE, workers=2)
    _as_before(tmp_path)
    with writing(tmp_path) as store:
        store.adopt(grid, [first, second], 2)
        store.commit(second, replace(DONE, sources={"a.csv": "1"}))
        assert [run.packages for run in store.runs()] == [{}, versions()]
        assert store.sources() == [ReadFile("a.csv", "1")]


def test_versions_of_packages_are_given_where_they_were_kept() -> None:
    """A run that an earlier version of gsopt kept has none."""
    old = StudyRun("2026-01-31T12:00:00+00:00", "0.1.0", "3.11.9", "Linux", 2, 2, 4)
    assert (old.packages, replace(old, details={"packages": {"numpy": "2.0"}}).packages) == (
        {},
        {"numpy": "2.0"},
    )
