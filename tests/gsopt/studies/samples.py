"""Studies and folders that the tests share."""

import sqlite3
from pathlib import Path
from typing import Any

from gsopt.studies import CellRow, CellState, Results, Study
from gsopt.studies.cells import Labels, cells_of
from gsopt.studies.compute import compute, prove
from gsopt.studies.grid import Label
from gsopt.studies.rows import CellOutcome
from gsopt.studies.store import writing

FIGURE_5 = "reclaiming/aryl-figure-5"

#: An instance and a method that together keep a solver busy for as long as it is allowed to.
HARD = {"generator": "reclaiming/server_uniform", "servers": 200, "jobs": 100, "degree": 3, "demand": 60}


def study(**changes: Any) -> Study:
    """Return a study of one instance and two quick methods, with changes."""
    return Study(**{"study": "test", "instances": [FIGURE_5], "methods": ["greedy", "exact"], **changes})


def row(figures: dict[str, Any], method: str = "greedy", **changes: Any) -> CellRow:
    """Make a finished cell; the changes are its group, instance, options, word, key, seed, error and state."""
    group = changes.get("group", "suite")
    options = changes.get("options", {})
    labels = Labels(
        group=Label(group, {}),
        instance=Label(changes.get("instance", f"{group}/1"), {}),
        method=Label(method, options),
        instance_options=changes.get("instance_options", {}),
        method_options=options,
    )
    state = CellState.FAILED if changes.get("error") else changes.get("state", CellState.DONE)
    outcome = CellOutcome(state, figures, 0.1, changes.get("message", ""), changes.get("error", ""))
    key = changes.get("key", changes.get("instance", f"{group}/1"))
    return CellRow(labels, changes.get("word", "reclaiming"), key, changes.get("seed"), outcome, "0.1.0")


def found(*rows: CellRow) -> Results:
    """Return the results that consist of some rows."""
    return Results("test", rows, len(rows))


def fill(folder: Path, grid: Study) -> None:
    """Compute the cells of a study in this process, and keep them in a folder."""
    with writing(folder) as store:
        store.adopt(grid, cells_of(grid), 1)
        for cell in cells_of(grid):
            store.commit(cell, compute(cell, bound=None if cell.word else prove(cell)))


def starts(folder: Path) -> list[tuple[str, int]]:
    """Return the key and the run of every time that a cell began to be computed."""
    return _all(folder, "SELECT key, run FROM start ORDER BY rowid")


def committed(folder: Path) -> dict[str, tuple[int, str, str]]:
    """Return the run, state and figures of every result by key."""
    return {key: rest for key, *rest in _all(folder, "SELECT key, run, state, figures FROM result")}


def _all(folder: Path, line: str) -> list[Any]:
    file = folder / "study.sqlite"
    if not file.exists():
        return []
    connection = sqlite3.connect(file, timeout=60)
    try:
        known = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection.execute(line).fetchall() if known != (0,) else []
    finally:
        connection.close()
