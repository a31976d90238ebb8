"""Reading: the rows of a trace file, and the reason why each unusable row was dropped."""

import csv
import gzip
import os
import re
import tarfile
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
_UNREADABLE = "\ufffd"  # what the decoder puts in the place of bytes that are not UTF-8

#: Tab, as a separator for `separated`.
TAB = "\t"


class Issue(Frozen):
    """A row that was dropped or repaired, with the reason.

    Attributes
    ----------
    file
        Name of the file.
    row
        Line number in the file, from 1. In a JSON file, the number of the entry.
    reason
        The problem with the row and, if the row was repaired, the repair.
    repaired
        Whether the row was repaired and its job kept. Otherwise the row was dropped.
    """

    file: str
    row: int
    reason: str
    repaired: bool = False

    def __str__(self) -> str:
        return f"{self.file}: row {self.row}: {self.reason}"


class Reading(Frozen):
    """The result of reading a trace: a workload, and the rows that were dropped or repaired."""

    workload: Workload
    issues: Many[Issue]

    @property
    def dropped(self) -> tuple[Issue, ...]:
        """The issues of dropped rows."""
        return tuple(issue for issue in self.issues if not issue.repaired)

    @property
    def repaired(self) -> tuple[Issue, ...]:
        """The issues of repaired rows, whose jobs were kept."""
        return tuple(issue for issue in self.issues if issue.repaired)


class TraceRow(NamedTuple):
    """One row of a trace: its location and the text in each column."""

    file: str
    line: int
    values: Mapping[str, str]

    def issue(self, reason: str, *, repaired: bool = False) -> Issue:
        """Return an issue that reports the row as dropped or repaired."""
        return Issue(file=self.file, row=self.line, reason=reason, repaired=repaired)

    def number(self, column: str) -> float:
        """Return the value in a column, or raise `InvalidInput` if it is not a number such as 1.5 or 2e3."""
        return float(self._matching(column, _NUMBER, "must be a number"))

    def whole_number(self, column: str) -> int:
        """Return the value in a column, or raise `InvalidInput` if it is not an integer."""
        return int(self._matching(column, _WHOLE_NUMBER, "must be a whole number"))

    def moment(self, column: str) -> float:
        """Convert the date and time in a column, such as ``2017-10-09 07:01:55``, to a Unix timestamp.

        The time zone is unknown; UTC is assumed. Text in any other form raises `InvalidInput`.
        """
        text = self.values[column]
        try:
            if _MOMENT.fullmatch(text):
                return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
        except ValueError:  # a month 13, a 30th of February
            pass
        raise InvalidInput(column, shorten(text), "must be a date and time such as 2017-10-09 07:01:55")

    def _matching(self, column: str, pattern: re.Pattern[str], rule: str) -> str:
        text = self.values[column]
        if len(text) > _LONGEST_NUMBER or not pattern.fullmatch(text):
            raise InvalidInput(column, shorten(text), rule)
        return text


def content(path: str | Path) -> bytes:
    """Read a file, and decompress it if it is a gzip file.

    Raises
    ------
    InvalidInput
        The file cannot be read, is a damaged or truncated gzip file, or has more than 256 MiB of content.
    """
    data = read_bytes(path)
    try:
        if data.startswith(_GZIP):
            with gzip.open(BytesIO(data)) as unpacked:
                data = unpacked.read(_LARGEST + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InvalidInput("", "", "must be a complete gzip file", source=str(path)) from None
    if len(data) > _LARGEST:
        raise InvalidInput("", "", "must hold at most 256 MiB", source=str(path))
    return data


def text_lines(path: str | Path) -> list[str]:
    """Return the lines of a text file, plain or gzipped, without empty lines at its end."""
    return _lines(content(path))


def members(path: str | Path, pattern: re.Pattern[str]) -> list[tuple[re.Match[str], bytes]]:
    """Return the files in a tar archive whose names match a pattern, each as the match and the content.

    The archive may be gzipped.

    Raises
    ------
    InvalidInput
        The archive cannot be read, or contains a file that claims to be larger than the archive.
    """
    data = content(path)
    found: list[tuple[re.Match[str], bytes]] = []
    try:
        with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
            for member in archive:
                name = pattern.fullmatch(member.name)
                if name and member.size > len(data):
                    raise tarfile.ReadError("a file larger than its archive")
                file = archive.extractfile(member) if name and member.isreg() else None
                if name and file:
                    found.append((name, file.read()))
    except tarfile.TarError:
        raise InvalidInput("", "", "must be a complete tar archive", source=str(path)) from None
    return found


def find(path: str | Path | None, place: Path) -> Path:
    """Return the path of a trace's file, given this path or a folder.

    The folder may be that of the trace or that of all traces. `place` is the path of the file in the folder of
    all traces. Raise `InvalidInput` if the folder does not contain the file.
    """
    if not isinstance(path, str | os.PathLike):
        rule = "must be a file or folder; instances.data_folder() is None if GSOPT_DATA names no folder"
        raise InvalidInput("path", shorten(path), rule)
    if not Path(path).is_dir():
        return Path(path)
    inner = Path(*place.parts[1:])
    for file in (Path(path) / place, Path(path) / inner):
        if file.exists():
            return file
    raise InvalidInput("", "", f"must be a file, or a folder with {inner.as_posix()}", source=str(path))


def rows(
    file: str, data: bytes, columns: tuple[str, ...], issues: list[Issue], *, further: bool = False
) -> Iterator[TraceRow]:
    """Yield the usable rows of a comma-separated table, and report the others.

    A value in double quotes may contain commas. A row is always one line, so an unclosed quote spoils only its
    own line. Empty lines at the end of the file are skipped, and so are lines before the header that begin with
    ``#``.

    Parameters
    ----------
    file
        Name of the file, for messages.
    data
        The table as UTF-8 text, header first.
    columns
        The header that the table must have.
    issues
        List to which unusable rows are appended.
    further
        Whether additional columns, and any order of the columns, are allowed. Values of additional columns may
        be empty.

    Raises
    ------
    InvalidInput
        The table has a wrong header.
    """
    lines = _lines(data)
    start = next((line for line, text in enumerate(lines) if not text.startswith("#")), 0)
    header, _ = _values(lines[start])
    fits = (
        set(columns) <= set(header) and len(set(header)) == len(header) if further else tuple(header) == columns
    )
    if not fits:
        rule = f"must {'hold' if further else 'be'} {','.join(columns)}"
        raise InvalidInput("header", shorten(lines[start]), rule, source=file)
    for line, text in enumerate(lines[start + 1 :], start=start + 2):
        values, fault = _values(text)
        named = dict(zip(header, values, strict=False))
        fault = fault or _wrong_number(len(values), len(header)) or _missing(named, columns)
        if fault:
            issues.append(Issue(file=file, row=line, reason=fault))
        else:
            yield TraceRow(file, line, named)


def separated(
    file: Path,
    lines: Iterable[tuple[int, str]],
    names: Iterable[tuple[str, ...]],
    issues: list[Issue],
    separator: str | None = None,
) -> list[TraceRow]:
    """Read the lines of a file that has no header.

    The number of values in a line determines which of the `names` apply. Lines with any other number of values
    are reported. Values are separated by blanks unless a separator is given.

    Raises
    ------
    InvalidInput
        No line has an expected number of values.
    """
    by_number = {len(each): each for each in names}
    numbers = " or ".join(map(str, sorted(by_number)))
    found: list[TraceRow] = []
    for line, text in lines:
        values = text.rstrip("\r").split(separator)
        if len(values) in by_number:
            found.append(TraceRow(file.name, line, dict(zip(by_number[len(values)], values, strict=True))))
        else:
            reason = f"must have {numbers} values, not {len(values)}"
            issues.append(Issue(file=file.name, row=line, reason=reason))
    if not found:
        between = " with tabs between them" if separator == TAB else ""
        raise InvalidInput("", "", f"must have lines of {numbers} values{between}", source=str(file))
    return found


def usable(
    candidates: Iterable[TraceRow], convert: Callable[[TraceRow], T], issues: list[Issue]
) -> Iterator[tuple[TraceRow, T]]:
    """Yield each row with its converted value, and report the rows that cannot be converted."""
    for row in candidates:
        try:
            converted = convert(row)
        except InvalidInput as error:
            issues.append(row.issue(str(error)))
        except ValidationError as error:
            issues.append(row.issue(str(first_error("", error))))
        else:
            yield row, converted


def read_table(
    file: Path, columns: tuple[str, ...], convert: Callable[[TraceRow], T], issues: list[Issue], name: str = ""
) -> list[tuple[TraceRow, T]]:
    """Read and convert the rows of a table, which may have additional columns, as in `rows` and `usable`."""
    return list(usable(rows(name or file.name, content(file), columns, issues, further=True), convert, issues))


def read_whole_table(
    file: Path, columns: tuple[str, ...], convert: Callable[[TraceRow], T], name: str = ""
) -> list[tuple[TraceRow, T]]:
    """Read a table as in `read_table`, but raise `InvalidInput` for the first unusable row."""
    issues: list[Issue] = []
    found = read_table(file, columns, convert, issues, name)
    for issue in issues:
        raise InvalidInput(f"row {issue.row}", "", issue.reason, source=issue.file)
    return found


def only(
    pairs: Iterable[tuple[TraceRow, T]], column: str, wanted: str, source: str, option: str
) -> list[tuple[TraceRow, T]]:
    """Return the rows that have the wanted value in a column, or raise `InvalidInput` if there are none."""
    given = list(pairs)
    kept = [(row, item) for row, item in given if row.values[column] == wanted]
    if not kept:
        known = sorted({row.values[column] for row, _ in given})
        raise InvalidInput(option, shorten(wanted), f"must be one of {', '.join(known)}", source=source)
    return kept


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8-sig", errors="replace").rstrip("\r\n").split("\n")


def _values(text: str) -> tuple[list[str], str]:
    """Return the values of a line, and any error of the line as a whole."""
    if not text.strip():
        return [], "must not be empty"
    if _UNREADABLE in text:
        return [], "must be UTF-8 text"
    line = text.rstrip("\r")
    if '"' not in line and "\r" not in line:  # almost always; the general reader takes seven times as long
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
