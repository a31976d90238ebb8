"""Schedule: the jobs that ran, with their times, GPUs and modes, and the CSV and JSON formats for them."""

import csv
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from io import StringIO
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import PlainValidator, ValidationError, ValidationInfo

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error, parse_json, quoted, read_text, unquoted, validated
from gsopt.core.numbers.clock import Clock
from gsopt.core.problem import Frozen, Many, Name, Number, RuleBroken

#: The required and the optional columns of a table.
_REQUIRED, _OPTIONAL = ("job", "start", "end", "gpus"), ("placement", "mode", "vacated")

_BYTE_ORDER_MARK = "\ufeff"  # spreadsheets begin their files with it


class Segment(NamedTuple):
    """A period during which a job holds the same GPUs in the same mode.

    Attributes
    ----------
    job
        Name of the job.
    start, end
        Times in seconds on the clock of the workload; integers, floats or fractions.
    gpus
        Number of GPUs.
    placement
        Indices of the GPUs; empty if unknown.
    mode
        Name of the mode; empty for the default mode.

    Examples
    --------
    >>> Segment("a", 0, 60, gpus=2, placement=(0, 1)).end
    60
    """

    job: str
    start: Any
    end: Any
    gpus: int
    placement: tuple[int, ...] = ()
    mode: str = ""


class Vacated(NamedTuple):
    """A machine that was given up on request.

    Attributes
    ----------
    time
        Time at which the machine was given up, in seconds on the clock of the workload; an integer, a float or
        a fraction.
    server
        Name of the machine.

    Examples
    --------
    >>> Vacated(3600, "machine 0.1").server
    'machine 0.1'
    """

    time: Any
    server: str


@dataclass(frozen=True)
class Schedule:
    """The decisions of a scheduler: its segments, the machines given up, and whether jobs may be preempted.

    Attributes
    ----------
    segments
        The segments, in any order.
    preemptive
        Whether jobs may be interrupted.
    vacated
        Machines that were given up on request, in the order in which they were given up.

    Examples
    --------
    >>> schedule = Schedule((Segment("a", 0, 1.5, 2), Segment("b", Fraction(3, 2), 2, 1, (0,))))
    >>> print(schedule.to_csv())
    job,start,end,gpus,placement
    a,0,1.5,2,
    b,3/2,2,1,0
    <BLANKLINE>
    >>> Schedule.from_csv(schedule.to_csv()) == schedule
    True
    >>> halved = Schedule((Segment("a", 0, 2, 1, (4,), "halves"),), vacated=(Vacated(2, "machine 0.1"),))
    >>> print(halved.to_csv())
    job,start,end,gpus,placement,mode,vacated
    a,0,2,1,4,halves,
    ,2,,,,,machine 0.1
    <BLANKLINE>
    >>> Schedule.from_json(halved.to_json()) == halved
    True
    """

    segments: tuple[Segment, ...]
    preemptive: bool = True
    vacated: tuple[Vacated, ...] = ()

    def rounded_on(self, clock: Clock) -> Clock:
        """Return `clock` if the schedule's times may be rounded, or a clock with origin 0 if they are exact.

        If any time is a fraction, all times are assumed to be exact.
        """
        times = (time for each in self.segments for time in (each.start, each.end))
        all_times = chain(times, (each.time for each in self.vacated))
        return Clock() if any(isinstance(time, Fraction) for time in all_times) else clock

    def timed(self, tell: Callable[[Any], Any]) -> "Schedule":
        """Return the schedule with every time converted by `tell`, for example to another clock.

        Examples
        --------
        >>> Schedule((Segment("a", 0, 1.5, 2),)).timed(lambda time: time + 60).segments[0].end
        61.5
        """
        return replace(
            self,
            segments=tuple(each._replace(start=tell(each.start), end=tell(each.end)) for each in self.segments),
            vacated=tuple(each._replace(time=tell(each.time)) for each in self.vacated),
        )

    def to_csv(self) -> str:
        """Return the schedule as CSV: a row for each segment, then a row for each machine that was given up.

        Fractions are written as ``3/2``, and the GPUs of a placement are separated by spaces. Empty columns at
        the end of the table, except ``placement``, are omitted. Names that a spreadsheet would interpret as
        formulas are preceded by an apostrophe. `preemptive` is not written.
        """
        rows = [
            [quoted(item.job), _written(item.start), _written(item.end), item.gpus, *_ending(item), ""]
            for item in self.segments
        ]
        rows += [["", _written(time), "", "", "", "", quoted(server)] for time, server in self.vacated]
        columns = [*_REQUIRED, *_OPTIONAL]
        while columns[-1] != "placement" and not any(row[len(columns) - 1] for row in rows):
            columns.pop()
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(row[: len(columns)] for row in rows)
        return text.getvalue()

    @classmethod
    def from_csv(cls, text: str, *, preemptive: bool = True, source: str = "") -> "Schedule":
        """Read a schedule from CSV text with a header.

        The columns ``placement``, ``mode`` and ``vacated`` are optional. A row with the name of a machine in
        ``vacated`` means that this machine was given up at ``start``. The text does not say whether jobs may be
        interrupted; `preemptive` does.

        Raises
        ------
        InvalidInput
            The text is not CSV, a column is missing, unknown or duplicated, a row has too many cells, or a
            value is invalid.

        Examples
        --------
        >>> schedule = Schedule((Segment("a", 0.0, 2.0, 1),))
        >>> Schedule.from_csv(schedule.to_csv()) == schedule
        True
        """
        table = _table(text, source)
        rows = {
            "segments": [_segment(row) for row in table if not row.get("vacated")],
            "vacated": [_vacated(row) for row in table if row.get("vacated")],
        }
        try:
            file = _File.model_validate(rows, strict=False)
        except ValidationError as error:
            raise first_error(source, error) from None
        return file.model_copy(update={"preemptive": preemptive}).schedule

    def to_json(self) -> str:
        """Return the schedule as JSON, with fractions as strings such as ``"3/2"``."""
        rows = []
        for segment in self.segments:
            row = {**segment._asdict(), "start": _jsonable(segment.start), "end": _jsonable(segment.end)}
            if not segment.mode:
                del row["mode"]
            rows.append(row)
        blocks = [f'"preemptive": {json.dumps(self.preemptive)}', f'"segments": {_block(rows)}']
        if self.vacated:
            given_up = [{"time": _jsonable(time), "server": server} for time, server in self.vacated]
            blocks.append(f'"vacated": {_block(given_up)}')
        return "{" + ",\n ".join(blocks) + "}\n"

    @classmethod
    def from_json(cls, text: str, *, source: str = "") -> "Schedule":
        """Read a schedule from JSON text.

        Raises
        ------
        InvalidInput
            The text is not JSON, or a field is missing, unknown, duplicated or invalid.

        Examples
        --------
        >>> schedule = Schedule((Segment("a", 0.0, 2.0, 1),))
        >>> Schedule.from_json(schedule.to_json()) == schedule
        True
        """
        text = text.removeprefix(_BYTE_ORDER_MARK)
        parse_json(source, text)
        return validated(_File, source, text).schedule

    @classmethod
    def read(cls, path: str | Path) -> "Schedule":
        """Read a schedule from a ``.csv`` or ``.json`` file.

        Raises
        ------
        InvalidInput
            The file cannot be read or breaks a rule.

        Examples
        --------
        >>> from tempfile import NamedTemporaryFile
        >>> with NamedTemporaryFile("w", suffix=".csv") as file:
        ...     _ = file.write(Schedule((Segment("a", 0, 2, 1),)).to_csv())
        ...     file.flush()
        ...     Schedule.read(file.name).segments[0].job
        'a'
        """
        text = read_text(path)
        if Path(path).suffix.lower() == ".csv":
            return cls.from_csv(text, source=str(path))
        return cls.from_json(text, source=str(path))


# Reading


def _number(value: Any, info: ValidationInfo) -> Number:
    """Parse a finite time: digits become an integer, ``3/2`` becomes a fraction, anything else a float."""
    number = value
    try:
        if isinstance(value, str):
            parse = Fraction if "/" in value else int if value.lstrip("-").isdigit() else float
            number = parse(value)
        if isinstance(number, int | float | Fraction) and not isinstance(number, bool) and isfinite(number):
            return number
    except (ValueError, ZeroDivisionError, OverflowError):
        pass
    raise RuleBroken(str(info.field_name), value, "must be a finite number")


_Time = Annotated[Any, PlainValidator(_number)]


class _SegmentRow(Frozen):
    job: Name
    start: _Time
    end: _Time
    gpus: int
    placement: Many[int] = ()
    mode: str = ""


class _VacatedRow(Frozen):
    time: _Time
    server: Name


class _File(Frozen):
    """A schedule as stored in a file."""

    preemptive: bool = True
    segments: Many[_SegmentRow]
    vacated: Many[_VacatedRow] = ()

    @property
    def schedule(self) -> Schedule:
        return Schedule(
            tuple(
                Segment(row.job, row.start, row.end, row.gpus, tuple(row.placement), row.mode)
                for row in self.segments
            ),
            self.preemptive,
            tuple(Vacated(row.time, row.server) for row in self.vacated),
        )


def csv_rows(text: str, source: str) -> list[list[str]]:
    """Return the non-empty rows of CSV text."""
    try:
        return [row for row in csv.reader(StringIO(text.removeprefix(_BYTE_ORDER_MARK))) if row]
    except csv.Error as error:
        raise InvalidInput("", "", f"must be CSV: {error}", source=source) from None


def _table(text: str, source: str) -> list[dict[str, str]]:
    """Return the rows of a CSV table, keyed by column, without the missing cells at the end of a row."""
    rows = csv_rows(text, source)
    header = rows[0] if rows else []
    for name in _REQUIRED:
        if name not in header:
            raise InvalidInput("header", shorten(header), f"must name the column {name}", source=source)
    for name in header:
        if name not in _REQUIRED + _OPTIONAL:
            raise InvalidInput("header", shorten(name), "is not a known column", source=source)
        if header.count(name) > 1:
            raise InvalidInput("header", shorten(name), "must not occur twice", source=source)
    for index, row in enumerate(rows[1:]):
        if len(row) > len(header):
            raise InvalidInput(
                f"segments[{index}]", shorten(row), "has more cells than the header", source=source
            )
    return [dict(zip(header, map(unquoted, row), strict=False)) for row in rows[1:]]


def _segment(row: dict[str, str]) -> dict[str, Any]:
    cells = {name: cell for name, cell in row.items() if name != "vacated"}
    return {**cells, "placement": cells.get("placement", "").split()}


def _vacated(row: dict[str, str]) -> dict[str, Any]:
    """Return the fields of a vacated machine. Other cells of its row are kept, to be rejected later."""
    others = {name: cell for name, cell in row.items() if cell and name not in {"start", "vacated"}}
    return {"time": row.get("start"), "server": row["vacated"], **others}


# Writing


def _ending(segment: Segment) -> tuple[str, str]:
    return " ".join(map(str, segment.placement)), quoted(segment.mode)


def _written(value: Number) -> str:
    return str(value) if isinstance(value, int | Fraction) else repr(value)


def _jsonable(value: Number) -> Any:
    return str(value) if isinstance(value, Fraction) else value


def _block(rows: Iterable[Any]) -> str:
    return "[\n  " + ",\n  ".join(map(json.dumps, rows)) + "\n ]"
