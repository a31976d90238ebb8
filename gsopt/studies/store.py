"""Store: the folder of a study, in which every cell is stored as soon as it is finished.

The folder contains a SQLite database in write-ahead mode. Each result is one row, written in one transaction,
so a killed process leaves only complete results. The start of each cell is recorded, too.
"""

import json
import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from filelock import FileLock, Timeout

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.versions import versions
from gsopt.schedule.bounds import MeanBound
from gsopt.studies.cells import Cell
from gsopt.studies.provenance import ReadFile, StudyRun
from gsopt.studies.rows import CellOutcome, CellRow, CellState, labels_of, row_of
from gsopt.studies.spec import Study

_DATABASE, _LOCK, _HOLDER = "study.sqlite", "study.lock", "study.pid"

#: Version of the tables below. Folders with the previous version are upgraded.
_LAYOUT = 3

_SOURCE_TABLE = """
CREATE TABLE source (instance TEXT NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL,
                     PRIMARY KEY (instance, path, digest));
"""

_TABLES = f"""
CREATE TABLE study (name TEXT NOT NULL, spec TEXT NOT NULL);
CREATE TABLE run (run INTEGER PRIMARY KEY, begun TEXT NOT NULL, version TEXT NOT NULL, python TEXT NOT NULL,
                  machine TEXT NOT NULL, cpus INTEGER, workers INTEGER NOT NULL, details TEXT NOT NULL);
CREATE TABLE cell (position INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, labels TEXT NOT NULL);
CREATE TABLE start (key TEXT NOT NULL, run INTEGER NOT NULL);
CREATE TABLE result (key TEXT PRIMARY KEY, run INTEGER NOT NULL, state TEXT NOT NULL, figures TEXT NOT NULL,
                     message TEXT NOT NULL, error TEXT NOT NULL, wall REAL NOT NULL);
CREATE TABLE bound (instance TEXT NOT NULL, evaluations INTEGER NOT NULL, mean_jct REAL NOT NULL,
                    proof TEXT NOT NULL, PRIMARY KEY (instance, evaluations));
{_SOURCE_TABLE}
"""

#: Statements that upgrade layout 2 to layout 3. If a folder is not writable, temporary tables are used instead.
_ADDED = ("ALTER TABLE run ADD COLUMN details TEXT NOT NULL DEFAULT '{}'", _SOURCE_TABLE)
_ADDED_BESIDE = """
CREATE TEMP VIEW run AS SELECT *, '{}' AS details FROM main.run;
CREATE TEMP TABLE source (instance TEXT, path TEXT, digest TEXT);
"""


class Store:
    """The folder of one study, opened by `writing` or `reading`.

    Threads may share a store.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self._folder = folder
        self._connection = connection
        self._lock = Lock()
        self._run = 0

    def adopt(self, study: Study, cells: Sequence[Cell], workers: int) -> None:
        """Store a study and its grid in the folder, replacing any earlier grid, and record the start of a run.

        Results of cells that are no longer in the grid are kept, but are not shown. Raise `InvalidInput` if the
        folder belongs to a study of another name.
        """
        with self._transaction() as database:
            held = database.execute("SELECT name FROM study").fetchone()
            if held is not None and held[0] != study.study:
                rule = f"holds the results of the study {shorten(held[0])}; give {shorten(study.study)} its own"
                raise InvalidInput("", "", rule, source=str(self._folder))
            database.execute("DELETE FROM study")
            database.execute("INSERT INTO study VALUES (?, ?)", (study.study, study.model_dump_json()))
            database.execute("DELETE FROM cell")
            lines = [(number, cell.key, json.dumps(labels_of(cell))) for number, cell in enumerate(cells)]
            database.executemany("INSERT INTO cell VALUES (?, ?, ?)", lines)
            packages = versions()
            circumstances = (
                datetime.now(UTC).isoformat(timespec="seconds"),
                packages["gsopt"],
                packages["python"],
                platform.platform(),
                os.cpu_count(),
                workers,
                json.dumps({"packages": packages}),
            )
            columns = "begun, version, python, machine, cpus, workers, details"
            line = f"INSERT INTO run ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - named above
            self._run = database.execute(line, circumstances).lastrowid or 0

    def note(self, details: Mapping[str, Any]) -> None:
        """Store additional details of the run, such as its machines."""
        line = "UPDATE run SET details = json_patch(details, ?) WHERE run = ?"
        with self._transaction() as database:
            database.execute(line, (json.dumps(dict(details)), self._run))

    def begin(self, cell: Cell) -> None:
        """Record that a cell is being computed."""
        with self._transaction() as database:
            database.execute("INSERT INTO start VALUES (?, ?)", (cell.key, self._run))

    def commit(self, cell: Cell, outcome: CellOutcome) -> None:
        """Store a result, and the paths and digests of the files from which its instance was read."""
        figures = json.dumps(dict(outcome.figures))
        told = outcome.state.value, figures, outcome.message, outcome.error, outcome.wall
        with self._transaction() as database:
            database.execute("INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?)", (cell.key, self._run, *told))
            sources = [(cell.instance_key, *source) for source in outcome.sources.items()]
            database.executemany("INSERT OR IGNORE INTO source VALUES (?, ?, ?)", sources)

    def bound(self, instance: str, evaluations: int) -> MeanBound | None:
        """Return the stored lower bound on every policy's mean JCT on an instance, or None if there is none.

        `instance` is the key of the instance, and `evaluations` is the number of price vectors that were to be
        tried, or -1 for the default number.
        """
        line = "SELECT mean_jct, proof FROM bound WHERE instance = ? AND evaluations = ?"
        with self._transaction() as database:
            held = database.execute(line, (instance, evaluations)).fetchone()
        return None if held is None else MeanBound(*held)

    def keep_bound(self, instance: str, evaluations: int, bound: MeanBound) -> None:
        """Store a lower bound on every policy's mean JCT on an instance."""
        line = "INSERT OR REPLACE INTO bound VALUES (?, ?, ?, ?)"
        with self._transaction() as database:
            database.execute(line, (instance, evaluations, bound.mean_jct, bound.proof))

    def forget_failures(self) -> None:
        """Delete failed results, so that their cells are computed again."""
        with self._transaction() as database:
            database.execute("DELETE FROM result WHERE state = ?", (CellState.FAILED.value,))

    def finished(self) -> dict[str, CellState]:
        """Return the states of all cells with a result, including those no longer in the grid, by cell key."""
        with self._transaction() as database:
            return {key: CellState(state) for key, state in database.execute("SELECT key, state FROM result")}

    def study(self) -> tuple[str, int]:
        """Return the name of the study and the number of its cells."""
        with self._transaction() as database:
            held = database.execute("SELECT name FROM study").fetchone()
            (cells,) = database.execute("SELECT count(*) FROM cell").fetchone()
        if held is None:
            raise InvalidInput("", "", "holds no study yet", source=str(self._folder))
        return str(held[0]), int(cells)

    def rows(self) -> list[CellRow]:
        """Return every cell of the grid that has a result, in the order of the grid."""
        line = (
            "SELECT labels, state, figures, message, error, wall, version, key"
            " FROM cell JOIN result USING (key) JOIN run USING (run) ORDER BY position"
        )
        with self._transaction() as database:
            return [row_of(*found) for found in database.execute(line)]

    def spec(self) -> str:
        """Return the study as JSON."""
        with self._transaction() as database:
            (spec,) = database.execute("SELECT spec FROM study").fetchone()
        return str(spec)

    def runs(self) -> list[StudyRun]:
        """Return the runs that computed cells of the grid, in chronological order."""
        line = (
            "SELECT begun, version, python, machine, cpus, workers, count(*), details"
            " FROM run JOIN result USING (run) JOIN cell USING (key) GROUP BY run ORDER BY run"
        )
        with self._transaction() as database:
            found = database.execute(line).fetchall()
        return [StudyRun(*[*told, json.loads(details)]) for *told, details in found]

    def sources(self) -> list[ReadFile]:
        """Return the files from which the instances of the grid were read, sorted by path."""
        line = (
            "SELECT DISTINCT path, digest FROM source WHERE instance IN"
            " (SELECT json_extract(labels, '$.instance_key') FROM cell) ORDER BY path, digest"
        )
        with self._transaction() as database:
            return [ReadFile(*found) for found in database.execute(line)]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _one_line(self._folder), self._connection:
            yield self._connection


@contextmanager
def writing(folder: str | Path) -> Iterator[Store]:
    """Open a study's folder for one run, creating it if needed.

    Raise `InvalidInput` if another run is using it.
    """
    home = Path(folder)
    with _one_line(home):
        home.mkdir(parents=True, exist_ok=True)
    with _alone(home), _opened(home) as store:
        yield store


@contextmanager
def reading(folder: str | Path) -> Iterator[Store]:
    """Open a study's folder for reading, which is possible during a run."""
    home = Path(folder)
    if not (home / _DATABASE).is_file():
        raise InvalidInput("", "", "must be a folder in which gsopt study run has worked", source=str(home))
    with _opened(home) as store:
        yield store


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Hold the lock of the folder, which the operating system releases no matter how this process ends."""
    lock, holder = FileLock(home / _LOCK, thread_local=False), home / _HOLDER
    with _one_line(home):
        try:
            lock.acquire(blocking=False)
        except Timeout:
            number = holder.read_text(encoding="utf-8") if holder.is_file() else "unknown"
            raise InvalidInput(
                "", "", f"is in use by another run, process {number}", source=str(home)
            ) from None
        holder.write_text(str(os.getpid()), encoding="utf-8")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _opened(home: Path) -> Iterator[Store]:
    """Open the database, as an immutable file if the folder is not writable."""
    mode = "rwc" if os.access(home, os.W_OK) else "ro&immutable=1"
    with _one_line(home):
        address = f"file:{quote(str((home / _DATABASE).absolute()))}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, timeout=60)
    try:
        with _one_line(home), connection:
            _lay_out(connection, home, writable=mode == "rwc")
        yield Store(home, connection)
    finally:
        connection.close()


def _lay_out(connection: sqlite3.Connection, home: Path, *, writable: bool) -> None:
    """Create missing tables, and upgrade those of an earlier layout."""
    layout = _layout_of(connection)
    if layout == _LAYOUT:
        return
    if layout == _LAYOUT - 1:
        if writable:
            _add(connection)
        else:
            connection.executescript(_ADDED_BESIDE)
        return
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
        raise InvalidInput(_DATABASE, "", "was written by another version of gsopt", source=str(home))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {_LAYOUT}; COMMIT;")  # all or nothing


def _add(connection: sqlite3.Connection) -> None:
    """Upgrade a database, unless another process has done so in the meantime."""
    connection.execute("BEGIN IMMEDIATE")
    if _layout_of(connection) < _LAYOUT:
        for statement in _ADDED:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_LAYOUT}")


def _layout_of(connection: sqlite3.Connection) -> int:
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    return int(layout)


@contextmanager
def _one_line(home: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput("", "", f"cannot be written: {error.strerror}", source=str(home)) from None
    except sqlite3.Error as error:
        raise InvalidInput(_DATABASE, "", f"cannot be used: {error}", source=str(home)) from None
