"""Schedule: what ran when, on how many or which GPUs; in and out of CSV and JSON."""

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from gsopt.errors import InvalidInput, shorten
from gsopt.files import parse_json, read_text
from gsopt.problem import Number

_COLUMNS = ["job", "start", "end", "gpus", "placement"]
_BYTE_ORDER_MARK = "\ufeff"  # spreadsheets begin their files with it


class Segment(NamedTuple):
    """A job holding the same GPUs from start to end.

    Attributes
    ----------
    job
        Name of the job.
    start, end
        Seconds on the clock of the workload; integers, floats or fractions.
    gpus
        Number of GPUs.
    placement
        Which GPUs, by number; empty when that is not said.
    """

    job: str
    start: Any
    end: Any
    gpus: int
    placement: tuple[int, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """Segments, and whether jobs were promised not to be preempted.

    Attributes
    ----------
    segments
        The segments in any order.
    preemptive
        Whether jobs may be interrupted.

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
    >>> Schedule.from_json(schedule.to_json()) == schedule
    True
    """

    segments: tuple[Segment, ...]
    preemptive: bool = True

    def to_csv(self) -> str:
        """Give the segments as CSV; fractions as ``3/2``, GPUs of a placement separated by blanks."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for segment in self.segments:
            times = [_written(segment.start), _written(segment.end)]
            placement = " ".join(map(str, segment.placement))
            writer.writerow([segment.job, *times, segment.gpus, placement])
        return text.getvalue()

    @classmethod
    def from_csv(cls, text: str, *, preemptive: bool = True, source: str = "") -> "Schedule":
        """Read segments from CSV with a header; the column ``placement`` may be left out.

        Raises
        ------
        InvalidInput
            It is no CSV, or a column is missing, unknown or named twice, or a value is not a number.
        """
        return cls(_segments(_table(text.removeprefix(_BYTE_ORDER_MARK), source), source), preemptive)

    def to_json(self) -> str:
        """Give the schedule as JSON; fractions as strings such as ``"3/2"``."""
        rows = [
            {
                "job": segment.job,
                "start": _jsonable(segment.start),
                "end": _jsonable(segment.end),
                "gpus": segment.gpus,
                "placement": list(segment.placement),
            }
            for segment in self.segments
        ]
        lines = ",\n  ".join(json.dumps(row) for row in rows)
        return f'{{"preemptive": {json.dumps(self.preemptive)},\n "segments": [\n  {lines}\n ]}}\n'

    @classmethod
    def from_json(cls, text: str, *, source: str = "") -> "Schedule":
        """Read a schedule from JSON.

        Raises
        ------
        InvalidInput
            It is no JSON, or a field is missing, unknown, given twice or of the wrong type.
        """
        data = parse_json(source, text.removeprefix(_BYTE_ORDER_MARK))
        _refuse_unknown(data, ["preemptive", "segments"], "", source)
        if not isinstance(data.get("segments"), list):
            raise InvalidInput(source, "segments", "", "must be a list")
        preemptive = data.get("preemptive", True)
        if not isinstance(preemptive, bool):
            raise InvalidInput(source, "preemptive", shorten(preemptive), "must be true or false")
        return cls(_segments(data["segments"], source), preemptive)

    @classmethod
    def read(cls, path: str | Path) -> "Schedule":
        """Read a schedule from a ``.csv`` or ``.json`` file.

        Raises
        ------
        InvalidInput
            The file cannot be read or breaks a rule.
        """
        text = read_text(path)
        if Path(path).suffix.lower() == ".csv":
            return cls.from_csv(text, source=str(path))
        return cls.from_json(text, source=str(path))


def _table(text: str, source: str) -> list[dict[str, Any]]:
    """Read the rows of a CSV table by column."""
    try:
        rows = [row for row in csv.reader(StringIO(text)) if row]
    except csv.Error as error:
        raise InvalidInput(source, "", "", f"must be CSV: {error}") from None
    header = rows[0] if rows else []
    for name in _COLUMNS[:4]:
        if name not in header:
            raise InvalidInput(source, "header", shorten(header), f"must name the column {name}")
    for name in header:
        if name not in _COLUMNS:
            raise InvalidInput(source, "header", shorten(name), "is not a known column")
        if header.count(name) > 1:
            raise InvalidInput(source, "header", shorten(name), "must not stand twice")
    for index, row in enumerate(rows[1:]):
        if len(row) > len(header):
            raise InvalidInput(source, f"segments[{index}]", shorten(row), "has more cells than the header")
    table = (
        dict(zip(header, row, strict=False)) for row in rows[1:]
    )  # a cell that is missing is refused later
    return [{**row, "placement": row.get("placement", "").split()} for row in table]


def _refuse_unknown(data: Mapping[str, Any], known: list[str], where: str, source: str) -> None:
    for key in data:
        if key not in known:
            raise InvalidInput(source, where, shorten(key), "is not a known key")


def _segments(rows: Iterable[Any], source: str) -> tuple[Segment, ...]:
    return tuple(_segment(row, f"segments[{index}]", source) for index, row in enumerate(rows))


def _segment(row: Any, where: str, source: str) -> Segment:
    if not isinstance(row, Mapping):
        raise InvalidInput(source, where, shorten(row), "must have the fields of a segment")
    _refuse_unknown(row, _COLUMNS, where, source)
    job = row.get("job")
    if not isinstance(job, str) or not job:
        raise InvalidInput(source, f"{where}.job", shorten(job), "must be a name")
    placement = row.get("placement", [])
    if not isinstance(placement, list):
        raise InvalidInput(source, f"{where}.placement", shorten(placement), "must be a list of GPU numbers")
    return Segment(
        job=job,
        start=_number(row.get("start"), f"{where}.start", source),
        end=_number(row.get("end"), f"{where}.end", source),
        gpus=_integer(row.get("gpus"), f"{where}.gpus", source),
        placement=tuple(_integer(gpu, f"{where}.placement", source) for gpu in placement),
    )


def _number(value: Any, field: str, source: str) -> Number:
    """Read a finite time: digits make an integer, ``3/2`` a fraction, anything else a float."""
    try:
        if isinstance(value, str):
            parse = Fraction if "/" in value else int if value.lstrip("-").isdigit() else float
            value = parse(value)
        if isinstance(value, int | float | Fraction) and not isinstance(value, bool) and isfinite(value):
            return value
    except (ValueError, ZeroDivisionError, OverflowError):
        pass
    raise InvalidInput(source, field, shorten(value), "must be a finite number")


def _integer(value: Any, field: str, source: str) -> int:
    try:
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    except ValueError:  # an integer of more than 4,300 digits
        pass
    raise InvalidInput(source, field, shorten(value), "must be an integer")


def _written(value: Number) -> str:
    return str(value) if isinstance(value, int | Fraction) else repr(value)


def _jsonable(value: Number) -> Any:
    return str(value) if isinstance(value, Fraction) else value
