"""Reading: rows of a trace file, with a reason for every row that cannot be used."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from gsopt.errors import InvalidInput, shorten
from gsopt.files import first_error
from gsopt.job import Workload
from gsopt.problem import Frozen, Many

T = TypeVar("T")

_LARGEST = 256 * 2**20
_LONGEST_NUMBER = 40
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
_GZIP = b"\x1f\x8b"
_UNREADABLE = "\ufffd"  # what the decoder puts in the place of bytes that are no UTF-8


class Issue(Frozen):
    """A row that was left out, and why.

    Attributes
    ----------
    file
        Name of the file.
    row
        Line of the file, counted from 1; the header is line 1.
    reason
        What is wrong with it.

    Examples
    --------
    >>> print(Issue(file="a.csv", row=7, reason="duration: 'x': must be a number"))
    a.csv: row 7: duration: 'x': must be a number
    """

    file: str
    row: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: row {self.row}: {self.reason}"


class Reading(Frozen):
    """What a trace file holds: its workload, and the rows that were left out.

    Examples
    --------
    >>> Reading(workload=Workload(jobs=[]), issues=[]).issues
    ()
    """

    workload: Workload
    issues: Many[Issue]


class Row(NamedTuple):
    """One row of a trace: its place and the text in each column.

    Examples
    --------
    >>> row = Row("a.csv", 2, {"duration": "66.0", "gpus": "eight"})
    >>> row.number("duration")
    66.0
    >>> row.whole_number("gpus")
    Traceback (most recent call last):
    gsopt.errors.InvalidInput: gpus: 'eight': must be a whole number
    """

    file: str
    line: int
    values: Mapping[str, str]

    def number(self, column: str) -> float:
        """Give a column as a number.

        Raises
        ------
        InvalidInput
            The text is no plain decimal number.
        """
        text = self.values[column]
        if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
            raise InvalidInput("", column, shorten(text), "must be a number")
        return float(text)

    def whole_number(self, column: str) -> int:
        """Give a column as a whole number.

        Raises
        ------
        InvalidInput
            The text is no plain whole number.
        """
        text = self.values[column]
        if len(text) > _LONGEST_NUMBER or not _WHOLE_NUMBER.fullmatch(text):
            raise InvalidInput("", column, shorten(text), "must be a whole number")
        return int(text)


def content(path: str | Path) -> bytes:
    """Read a file, and decompress it when it is a gzip file.

    Raises
    ------
    InvalidInput
        The file cannot be read, is damaged or cut off, or holds more than 256 MiB.

    Examples
    --------
    >>> content("no/such/trace.csv")
    Traceback (most recent call last):
    gsopt.errors.InvalidInput: no/such/trace.csv: cannot be read: No such file or directory
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
        if data.startswith(_GZIP):
            with gzip.open(BytesIO(data)) as unpacked:
                data = unpacked.read(_LARGEST + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InvalidInput(str(path), "", "", "must be a complete gzip file") from None
    except OSError as error:
        raise InvalidInput(str(path), "", "", f"cannot be read: {error.strerror}") from None
    if len(data) > _LARGEST:
        raise InvalidInput(str(path), "", "", "must hold at most 256 MiB")
    return data


def rows(file: str, data: bytes, columns: tuple[str, ...], issues: list[Issue]) -> Iterator[Row]:
    r"""Give the rows of a comma-separated table; rows without a value in every column are noted as issues.

    Lines that are empty at the end of the file are no rows.

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

    Raises
    ------
    InvalidInput
        The header is a different one.

    Examples
    --------
    >>> issues = []
    >>> [row.line for row in rows("a.csv", b"job,gpus\na,1\n\nb,2,3\nc,4\n", ("job", "gpus"), issues)]
    [2, 5]
    >>> [issue.reason for issue in issues]
    ['must not be empty', 'must have 2 values, not 3']
    """
    header, *lines = data.decode("utf-8-sig", errors="replace").rstrip("\r\n").split("\n")
    if header.rstrip("\r") != ",".join(columns):
        raise InvalidInput(file, "header", shorten(header), f"must be {','.join(columns)}")
    for line, text in enumerate(lines, start=2):
        values = text.rstrip("\r").split(",")
        if len(values) == len(columns) and "" not in values and _UNREADABLE not in text:
            yield Row(file, line, dict(zip(columns, values, strict=True)))
        else:
            issues.append(Issue(file=file, row=line, reason=_fault(text, values, columns)))


def usable(
    candidates: Iterable[Row], convert: Callable[[Row], T], issues: list[Issue]
) -> Iterator[tuple[Row, T]]:
    r"""Convert rows, and note those that break a rule as issues instead.

    Examples
    --------
    >>> issues = []
    >>> table = rows("a.csv", b"job,gpus\na,1\nb,two\n", ("job", "gpus"), issues)
    >>> [gpus for _, gpus in usable(table, lambda row: row.whole_number("gpus"), issues)]
    [1]
    >>> print(issues[0])
    a.csv: row 3: gpus: 'two': must be a whole number
    """
    for row in candidates:
        try:
            converted = convert(row)
        except InvalidInput as error:
            issues.append(Issue(file=row.file, row=row.line, reason=str(error)))
        except ValidationError as error:
            issues.append(Issue(file=row.file, row=row.line, reason=str(first_error("", error))))
        else:
            yield row, converted


def _fault(text: str, values: list[str], columns: tuple[str, ...]) -> str:
    if not text.strip():
        return "must not be empty"
    if _UNREADABLE in text:
        return "must be UTF-8 text"
    if len(values) != len(columns):
        return f"must have {len(columns)} values, not {len(values)}"
    return f"{columns[values.index('')]}: must not be empty"
