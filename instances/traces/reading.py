"""Reading: rows of a trace file, with a reason for every row that cannot be used."""

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error, read_bytes
from gsopt.core.problem import Frozen, Many
from gsopt.scenario.job import Workload

T = TypeVar("T")

_LARGEST = 256 * 2**20
_LONGEST_NUMBER = 40
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
_GZIP = b"\x1f\x8b"
_UNREADABLE = "\ufffd"  # what the decoder puts in the place of bytes that are no UTF-8


class Issue(Frozen):
    """A row that was dropped or repaired, and why.

    Attributes
    ----------
    file
        Name of the file.
    row
        Line of the file, counted from 1; the header is line 1. In a JSON file, the number of the entry.
    reason
        What is wrong with it, and how it was repaired if it was.
    repaired
        Whether the row was repaired and its job kept; otherwise it was dropped.
    """

    file: str
    row: int
    reason: str
    repaired: bool = False

    def __str__(self) -> str:
        return f"{self.file}: row {self.row}: {self.reason}"


class Reading(Frozen):
    """What a trace file holds: its workload, and the rows that were dropped or repaired."""

    workload: Workload
    issues: Many[Issue]

    @property
    def dropped(self) -> tuple[Issue, ...]:
        """The rows whose jobs are missing in the workload."""
        return tuple(issue for issue in self.issues if not issue.repaired)

    @property
    def repaired(self) -> tuple[Issue, ...]:
        """The rows whose jobs differ from what the file says."""
        return tuple(issue for issue in self.issues if issue.repaired)


class TraceRow(NamedTuple):
    """One row of a trace: its place and the text in each column."""

    file: str
    line: int
    values: Mapping[str, str]

    def number(self, column: str) -> float:
        """Return a column as a number.

        Raises
        ------
        InvalidInput
            The text is no plain decimal number.
        """
        return float(self._matching(column, _NUMBER, "must be a number"))

    def whole_number(self, column: str) -> int:
        """Return a column as a whole number.

        Raises
        ------
        InvalidInput
            The text is no plain whole number.
        """
        return int(self._matching(column, _WHOLE_NUMBER, "must be a whole number"))

    def moment(self, column: str) -> float:
        """Return a date and time as seconds since 1970; the time zone is unknown, UTC stands for it.

        Raises
        ------
        InvalidInput
            The text is no date and time, to the second.
        """
        text = self.values[column]
        try:
            if _MOMENT.fullmatch(text):
                return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
        except ValueError:  # a month 13, a 30th of February
            pass
        raise InvalidInput("", column, shorten(text), "must be a date and time such as 2017-10-09 07:01:55")

    def _matching(self, column: str, pattern: re.Pattern[str], rule: str) -> str:
        text = self.values[column]
        if len(text) > _LONGEST_NUMBER or not pattern.fullmatch(text):
            raise InvalidInput("", column, shorten(text), rule)
        return text


def content(path: str | Path) -> bytes:
    """Read a file, and decompress it when it is a gzip file.

    Raises
    ------
    InvalidInput
        The file cannot be read, is damaged or cut off, or holds more than 256 MiB.
    """
    data = read_bytes(path)
    try:
        if data.startswith(_GZIP):
            with gzip.open(BytesIO(data)) as unpacked:
                data = unpacked.read(_LARGEST + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InvalidInput(str(path), "", "", "must be a complete gzip file") from None
    if len(data) > _LARGEST:
        raise InvalidInput(str(path), "", "", "must hold at most 256 MiB")
    return data


def find(path: str | Path, place: Path) -> Path:
    """Find a trace's file: the path itself, or its place in the folder of all traces or of this one.

    Parameters
    ----------
    path
        A file or a folder.
    place
        Place of the file in the folder of all traces.

    Raises
    ------
    InvalidInput
        The path is a folder without such a file.
    """
    if not Path(path).is_dir():
        return Path(path)
    inner = Path(*place.parts[1:])
    for file in (Path(path) / place, Path(path) / inner):
        if file.exists():
            return file
    raise InvalidInput(str(path), "", "", f"must be a file, or a folder with {inner.as_posix()}")


def rows(
    file: str, data: bytes, columns: tuple[str, ...], issues: list[Issue], *, further: bool = False
) -> Iterator[TraceRow]:
    r"""Yield the rows of a comma-separated table; rows without a value in every column are noted as issues.

    A value in double quotes may hold commas, but a row is one line: quotes that are not closed on it spoil that
    line alone, not the rest of the file. Lines that are empty at the end of the file are no rows. Lines that
    begin with ``#`` before the header are passed over.

    Parameters
    ----------
    file
        Name of the file, for messages.
    data
        The table as UTF-8 text, header first.
    columns
        The header that the table must have.
    issues
        Takes the rows that cannot be used.
    further
        Whether the header may hold further columns, in any order; their values may be empty.

    Raises
    ------
    InvalidInput
        The header is a different one.
    """
    lines = data.decode("utf-8-sig", errors="replace").rstrip("\r\n").split("\n")
    start = next((line for line, text in enumerate(lines) if not text.startswith("#")), 0)
    header, _ = _values(lines[start])
    fits = (
        set(columns) <= set(header) and len(set(header)) == len(header) if further else tuple(header) == columns
    )
    if not fits:
        rule = f"must {'hold' if further else 'be'} {','.join(columns)}"
        raise InvalidInput(file, "header", shorten(lines[start]), rule)
    for line, text in enumerate(lines[start + 1 :], start=start + 2):
        values, fault = _values(text)
        named = dict(zip(header, values, strict=False))
        fault = fault or _wrong_number(len(values), len(header)) or _missing(named, columns)
        if fault:
            issues.append(Issue(file=file, row=line, reason=fault))
        else:
            yield TraceRow(file, line, named)


def usable(
    candidates: Iterable[TraceRow], convert: Callable[[TraceRow], T], issues: list[Issue]
) -> Iterator[tuple[TraceRow, T]]:
    r"""Convert rows, and note those that break a rule as issues instead."""
    for row in candidates:
        try:
            converted = convert(row)
        except InvalidInput as error:
            issues.append(Issue(file=row.file, row=row.line, reason=str(error)))
        except ValidationError as error:
            issues.append(Issue(file=row.file, row=row.line, reason=str(first_error("", error))))
        else:
            yield row, converted


def only(
    pairs: Iterable[tuple[TraceRow, T]], column: str, wanted: str, source: str, option: str
) -> list[tuple[TraceRow, T]]:
    """Keep the rows with one value in a column.

    Raises
    ------
    InvalidInput
        No row has it; the message names the source, the option and the values that there are.
    """
    given = list(pairs)
    kept = [(row, item) for row, item in given if row.values[column] == wanted]
    if not kept:
        known = sorted({row.values[column] for row, _ in given})
        raise InvalidInput(source, option, shorten(wanted), f"must be one of {', '.join(known)}")
    return kept


def _values(text: str) -> tuple[list[str], str]:
    """Return the values of a line, and what is wrong with it as a whole."""
    if not text.strip():
        return [], "must not be empty"
    if _UNREADABLE in text:
        return [], "must be UTF-8 text"
    line = text.rstrip("\r")
    if '"' not in line and "\r" not in line:  # as nearly all; the general reader takes seven times as long
        return line.split(","), ""
    try:
        return next(csv.reader([line], strict=True)), ""
    except csv.Error as error:
        return [], f"must be comma-separated values: {error}"


def _wrong_number(values: int, columns: int) -> str:
    return "" if values == columns else f"must have {columns} values, not {values}"


def _missing(named: Mapping[str, str], columns: tuple[str, ...]) -> str:
    if all(map(named.__getitem__, columns)):
        return ""
    empty = next(column for column in columns if not named[column])
    return f"{empty}: must not be empty"
