"""Foreign tables: schedules and workloads in CSV files, data frames or lists of rows from any program.

Columns may have any names, and additional columns are ignored. Times may be in milliseconds, seconds, minutes,
hours or days with any origin, or be timestamps. Each is converted exactly and rounded once, so that equal times
stay equal.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, require_one_of, shorten
from gsopt.core.files import first_error, read_text, unquoted
from gsopt.core.numbers.grid import decimal
from gsopt.core.problem import Number
from gsopt.scenario.job import Job, Workload
from gsopt.schedule.schedule import Schedule, Segment, Vacated, csv_rows

#: Units of time that tables may use, with their lengths in seconds.
UNITS: Mapping[str, Fraction] = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
}

#: A limit above all valid times and counts that still fits a float.
_TOO_LARGE = 10**30

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: The columns of a schedule and of a workload; the first four of each are required.
_SEGMENT = ("job", "start", "end", "gpus", "duration", "placement", "mode", "vacated")
_JOB = ("name", "release_date", "duration", "gpus", "model", "memory", "batch_size", "gpu_type")
_NEEDED = 4

_Row = Mapping[str, Any]


def read_schedule(
    table: Any,
    *,
    columns: Mapping[str, str] | None = None,
    time_unit: str = "s",
    origin: Any = 0,
    preemptive: bool = True,
) -> Schedule:
    """Read a schedule from a table written by any program.

    Parameters
    ----------
    table
        A CSV file, a pandas or polars data frame, or a sequence of mappings, one per row. A JSON file is read
        as by `Schedule.read`; of the other arguments, only `preemptive` applies to it.
    columns
        The meanings of the table's columns, such as ``{"job_id": "job"}`` if the column ``job_id`` contains
        the names of jobs. A column that is named after its meaning needs no entry. The meanings ``job``,
        ``start``, ``end`` (or ``duration``) and ``gpus`` are required. ``placement``, ``mode`` and ``vacated``
        are optional. A row with the name of a machine in ``vacated`` contains no job: the machine is given up
        at the row's start.
    time_unit
        Unit of times: ms, s, min, h or d. Timestamps are converted to seconds since 1970; without a time
        zone, they are assumed to be in UTC.
    origin
        Time or timestamp in the table that corresponds to time 0 of the workload.
    preemptive
        Whether jobs may be interrupted. For a JSON file, its own field must allow this, too.

    Raises
    ------
    InvalidInput
        The table cannot be read, a column is missing, or a value is invalid.

    Examples
    --------
    >>> rows = [{"job_id": 17, "from": 0, "to": 1.5, "num_gpus": 2.0, "user": "ann"}]
    >>> columns = {"job_id": "job", "from": "start", "to": "end", "num_gpus": "gpus"}
    >>> read_schedule(rows, columns=columns, time_unit="h").segments
    (Segment(job='17', start=0, end=5400, gpus=2, placement=(), mode=''),)
    """
    if isinstance(table, str | Path) and Path(table).suffix.lower() == ".json":
        read = Schedule.read(table)
        return replace(read, preemptive=read.preemptive and preemptive)
    found = _Table.of(table, "segments", _SEGMENT, columns, time_unit, origin)
    if "end" not in found.columns.values() and "duration" in found.columns.values():
        found.need(("job", "start", "duration", "gpus"))
    else:
        found.need(_SEGMENT[:_NEEDED])
    rows = [_segment(found, index) for index in range(len(found.rows))]
    segments = tuple(row for row in rows if isinstance(row, Segment))
    return Schedule(segments, preemptive, tuple(row for row in rows if isinstance(row, Vacated)))


def read_workload(
    table: Any,
    *,
    columns: Mapping[str, str] | None = None,
    time_unit: str = "s",
    origin: Any = 0,
    name: str = "",
) -> Workload:
    """Read a workload from a table written by any program.

    Parameters
    ----------
    table, time_unit, origin
        As in `read_schedule`, but `table` cannot be a JSON file.
    columns
        The meanings of the table's columns, such as ``{"job_id": "name", "submitted": "release_date"}``. A
        column that is named after its meaning needs no entry. The meanings ``name``, ``release_date``,
        ``duration`` and ``gpus`` are required. ``model``, ``memory``, ``batch_size`` and ``gpu_type`` are
        optional.
    name
        Name of the workload.

    Raises
    ------
    InvalidInput
        The table is invalid in one of the ways listed for `read_schedule`, or a job or the workload
        breaks a rule.

    Examples
    --------
    >>> rows = [{"id": "a", "submitted": "2024-05-01 12:00:30", "minutes": 90, "gpus": 4}]
    >>> columns = {"id": "name", "submitted": "release_date", "minutes": "duration"}
    >>> job = read_workload(rows, columns=columns, time_unit="min", origin="2024-05-01 12:00").jobs[0]
    >>> job.release_date, job.duration
    (30.0, 5400.0)
    """
    if isinstance(table, str | Path) and Path(table).suffix.lower() == ".json":
        rule = "must be a CSV file; Workload.model_validate_json reads a workload in JSON"
        raise InvalidInput("", "", rule, source=str(table))
    found = _Table.of(table, "jobs", _JOB, columns, time_unit, origin)
    found.need(_JOB[:_NEEDED])
    jobs = [_job(found, index) for index in range(len(found.rows))]
    try:
        return Workload(name=name, jobs=jobs)
    except ValidationError as error:
        raise first_error(found.source, error) from None


@dataclass(frozen=True)
class _Table:
    """The rows of a table, and gsopt's names for its columns."""

    source: str
    what: str
    rows: Sequence[_Row]
    columns: Mapping[str, str]  # theirs to ours
    unit: Fraction
    origin: Fraction

    @classmethod
    def of(
        cls,
        table: Any,
        what: str,
        known: Sequence[str],
        columns: Mapping[str, str] | None,
        time_unit: str,
        origin: Any,
    ) -> "_Table":
        require_one_of("time_unit", time_unit, UNITS)
        unit = UNITS[time_unit]
        source = str(table) if isinstance(table, str | Path) else ""
        rows = _rows(table, source)
        return cls(source, what, rows, _mapped(rows, known, columns or {}, source), unit, _origin(origin, unit))

    def need(self, names: Iterable[str]) -> None:
        """Raise `InvalidInput` if the table has rows but lacks one of these columns."""
        for name in names if self.rows else ():
            if name not in self.columns.values():
                rule = f"must be one of the columns, which are {', '.join(map(str, self.rows[0]))}"
                raise InvalidInput("columns", name, rule, source=self.source)

    def cells(self, index: int) -> dict[str, Any]:
        """Return the non-empty cells of a row, keyed by gsopt's names for the columns."""
        row = self.rows[index]
        cells = {ours: _plain(row.get(theirs)) for theirs, ours in self.columns.items()}
        return {name: cell for name, cell in cells.items() if cell is not None}

    def refuse(self, index: int, field: str, value: Any, rule: str) -> InvalidInput:
        """Return the error to raise for an invalid cell."""
        return InvalidInput(f"{self.what}[{index}].{field}", shorten(value), rule, source=self.source)

    def take(self, index: int, cells: Mapping[str, Any], field: str) -> Any:
        """Return a cell, or raise `InvalidInput` if it is empty."""
        if field not in cells:
            raise InvalidInput(f"{self.what}[{index}].{field}", "", "is required", source=self.source)
        return cells[field]

    def time(self, index: int, cells: Mapping[str, Any], field: str) -> Fraction:
        """Return a point in time, in seconds on the clock of the workload."""
        seconds = _point(self.take(index, cells, field), self.unit)
        if seconds is None:
            raise self.refuse(index, field, cells[field], "must be a finite number or a timestamp")
        return seconds - self.origin

    def span(self, index: int, cells: Mapping[str, Any], field: str) -> Fraction:
        """Return a duration in seconds."""
        cell = self.take(index, cells, field)
        seconds = _seconds(cell) if isinstance(cell, timedelta) else _scaled(cell, self.unit)
        if seconds is None:
            raise self.refuse(index, field, cell, "must be a finite number")
        return seconds

    def count(self, index: int, cells: Mapping[str, Any], field: str) -> int:
        """Return an integer. It may be written as a decimal such as ``2.0``."""
        value = _fraction(self.take(index, cells, field))
        if value is None or value.denominator != 1:
            raise self.refuse(index, field, cells[field], "must be a whole number")
        return value.numerator


def _segment(table: _Table, index: int) -> Segment | Vacated:
    cells = table.cells(index)
    start = table.time(index, cells, "start")
    if "vacated" in cells:
        return Vacated(_rounded(start), _text(cells["vacated"]))
    if "end" in table.columns.values():
        end = table.time(index, cells, "end")
    else:
        end = start + table.span(index, cells, "duration")
    return Segment(
        job=_text(table.take(index, cells, "job")),
        start=_rounded(start),
        end=_rounded(end),
        gpus=table.count(index, cells, "gpus"),
        placement=_placement(table, index, cells),
        mode=_text(cells.get("mode", "")),
    )


def _job(table: _Table, index: int) -> Job:
    cells = table.cells(index)
    fields: dict[str, Any] = {
        "name": _text(table.take(index, cells, "name")),
        "release_date": float(table.time(index, cells, "release_date")),
        "duration": float(table.span(index, cells, "duration")),
        "gpus": table.count(index, cells, "gpus"),
    }
    fields |= {name: table.count(index, cells, name) for name in ("memory", "batch_size") if name in cells}
    fields |= {name: _text(cells[name]) for name in ("model", "gpu_type") if name in cells}
    try:
        return Job(**fields)
    except ValidationError as error:
        wrong = first_error("", error)
        raise InvalidInput(
            f"jobs[{index}].{wrong.field}", wrong.value, wrong.rule, source=table.source
        ) from None


def _placement(table: _Table, index: int, cells: Mapping[str, Any]) -> tuple[int, ...]:
    given = cells.get("placement", ())
    words = given.replace(",", " ").replace(";", " ").split() if isinstance(given, str) else given
    if not isinstance(words, Iterable):
        words = [words]
    return tuple(table.count(index, {"placement": word}, "placement") for word in words)


# Tables


def _rows(table: Any, source: str) -> Sequence[_Row]:
    if isinstance(table, str | Path):
        return _csv(read_text(table), source)
    if hasattr(table, "to_dicts"):  # polars
        table = table.to_dicts()
    elif hasattr(table, "to_dict"):  # pandas
        table = table.to_dict("records")
    if isinstance(table, Iterable):
        rows = list(table)
        if all(isinstance(row, Mapping) for row in rows):
            return rows
    raise InvalidInput("table", shorten(table), "must be a CSV file, a data frame, or rows as mappings")


def _csv(text: str, source: str) -> Sequence[_Row]:
    lines = csv_rows(text, source)
    if not lines:
        raise InvalidInput("header", "", "must name the columns", source=source)
    header = [name.strip() for name in lines[0]]
    for name in header:
        if header.count(name) > 1:
            raise InvalidInput("header", shorten(name), "must not occur twice", source=source)
    for index, line in enumerate(lines[1:]):
        if len(line) > len(header):
            raise InvalidInput(f"rows[{index}]", shorten(line), "has more cells than the header", source=source)
    return [dict(zip_longest(header, map(unquoted, line), fillvalue="")) for line in lines[1:]]


def _mapped(
    rows: Sequence[_Row], known: Sequence[str], columns: Mapping[str, str], source: str
) -> Mapping[str, str]:
    """Return gsopt's name for each column that is used. Columns mapped by the caller take precedence."""
    there = dict.fromkeys(key for row in rows for key in row)
    for theirs, ours in columns.items():
        if ours not in known:
            raise InvalidInput("columns", shorten(ours), f"must be one of {', '.join(known)}", source=source)
        if rows and theirs not in there:
            rule = f"must be one of the columns, which are {', '.join(map(str, there))}"
            raise InvalidInput("columns", shorten(theirs), rule, source=source)
        if list(columns.values()).count(ours) > 1:
            raise InvalidInput("columns", shorten(ours), "must be one column only", source=source)
    own = {
        name: name for name in known if name in there and name not in columns and name not in columns.values()
    }
    return {**own, **columns}


# Values


def _plain(cell: Any) -> Any:
    """Return a cell as a plain Python value, or None if it is empty."""
    if isinstance(cell, str):
        return cell.strip() or None
    if isinstance(cell, list | tuple):
        return cell
    if hasattr(cell, "tolist"):  # of numpy
        cell = cell.tolist()
    try:
        return None if cell is None or cell != cell else cell  # noqa: PLR0124 - NaN, and NaT of pandas
    except TypeError:  # NA of pandas
        return None


def _text(cell: Any) -> str:
    """Return a name as a string. Integers that a data frame converted to floats are restored."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _fraction(cell: Any) -> Fraction | None:
    """Return a finite number exactly as it is written, or None for anything else."""
    if isinstance(cell, bool):
        return None
    try:
        if isinstance(cell, str):
            cell = float(cell) if "e" in cell.lower() else Fraction(cell)  # 1e999999999 takes all memory
        number = decimal(cell) if isinstance(cell, float) else cell
        value = Fraction(*number.as_integer_ratio())
    except (AttributeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return value if abs(value) < _TOO_LARGE else None


def _scaled(cell: Any, unit: Fraction) -> Fraction | None:
    value = _fraction(cell)
    return None if value is None else value * unit


def _point(cell: Any, unit: Fraction) -> Fraction | None:
    """Convert a number in the given unit, or a timestamp, to seconds, or return None if it is neither."""
    value = _scaled(cell, unit)
    if value is not None:
        return value
    try:
        stamp = datetime.fromisoformat(cell) if isinstance(cell, str) else cell
    except ValueError:
        return None
    if not isinstance(stamp, datetime):
        return None
    return _seconds((stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)) - _EPOCH)


def _seconds(span: timedelta) -> Fraction:
    return Fraction(span // timedelta(microseconds=1), 10**6)


def _rounded(seconds: Fraction) -> Number:
    return seconds.numerator if seconds.denominator == 1 else float(seconds)


def _origin(origin: Any, unit: Fraction) -> Fraction:
    seconds = _point(_plain(origin), unit)
    if seconds is None:
        raise InvalidInput("origin", shorten(origin), "must be a finite number or a timestamp")
    return seconds
