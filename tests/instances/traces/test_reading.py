"""Rows of trace files, good and bad."""

import csv
import gzip
from io import StringIO
from pathlib import Path
from random import Random

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Workload
from instances.traces import reading
from instances.traces.reading import Issue, Reading, TraceRow, content, find, only, rows

COLUMNS = ("job", "gpus")

BAD_NUMBERS = {
    "letters": "abc",
    "letter O for a zero": "1O",
    "nothing": "",
    "blank": " 1",
    "underscore": "1_000",
    "not a number": "nan",
    "infinite": "inf",
    "hexadecimal": "0x10",
    "Arabic digits": "\u0661\u0662",
    "two points": "1.2.3",
    "exponent without digits": "1e",
    "decimal comma": "1,5",
    "thousands of digits": "9" * 5000,
    "line feed": "1\n",
}

GOOD_NUMBERS = {"66.0": 66.0, "-5": -5.0, "1e3": 1000.0, "7.": 7.0, "+2": 2.0}


def read(data: bytes, **options: bool) -> tuple[list[TraceRow], list[tuple[int, str]]]:
    """Return the rows of a table, and the row and reason of every issue."""
    issues: list[Issue] = []
    found = list(rows("a.csv", data, COLUMNS, issues, **options))
    return found, [(issue.row, issue.reason) for issue in issues]


def row(value: str) -> TraceRow:
    """Return a row with one value."""
    return TraceRow("a.csv", 2, {"value": value})


@pytest.mark.parametrize("text", BAD_NUMBERS.values(), ids=BAD_NUMBERS.keys())
def test_what_is_no_number_is_refused(text: str) -> None:
    """Only plain decimal digits are numbers."""
    with pytest.raises(InvalidInput, match=r"value: .*: must be a number"):
        row(text).number("value")
    with pytest.raises(InvalidInput, match=r"value: .*: must be a whole number"):
        row(text).whole_number("value")


@pytest.mark.parametrize(("text", "value"), GOOD_NUMBERS.items())
def test_plain_numbers_are_read(text: str, value: float) -> None:
    """Signs, decimals and exponents are read."""
    assert row(text).number("value") == value


def test_a_whole_number_has_no_decimals() -> None:
    """A count with decimals is refused, even when they are zeros."""
    assert row("64").whole_number("value") == 64
    with pytest.raises(InvalidInput):
        row("64.0").whole_number("value")


def test_every_line_is_a_row_or_an_issue() -> None:
    """Each line after the header becomes a row or an issue with its line and reason."""
    data = b"job,gpus\r\na,1\r\nb\r\n\r\nc,\r\nd,2,3\r\n\xff,4\r\ne,5\r\n\r\n"
    found, issues = read(data)

    assert found == [
        TraceRow("a.csv", 2, {"job": "a", "gpus": "1"}),
        TraceRow("a.csv", 8, {"job": "e", "gpus": "5"}),
    ]
    assert issues == [
        (3, "must have 2 values, not 1"),
        (4, "must not be empty"),
        (5, "gpus: must not be empty"),
        (6, "must have 2 values, not 3"),
        (7, "must be UTF-8 text"),
    ]


def test_a_value_in_quotes_may_hold_commas_and_quotes() -> None:
    """Quotes are those of every spreadsheet: what is in them is one value, and two of them are one."""
    data = b'job,"gpus"\n"a,b",1\n"c ""d""",2\n"","3"\ne"f,4\n'
    found, issues = read(data)

    assert [(each.line, each.values["job"], each.whole_number("gpus")) for each in found] == [
        (2, "a,b", 1),
        (3, 'c "d"', 2),
        (5, 'e"f', 4),
    ]
    assert issues == [(4, "job: must not be empty")]


@pytest.mark.parametrize("line", [b'"a,1', b'"a"b,1', b'a,"1'])
def test_quotes_that_are_wrong_spoil_one_line(line: bytes) -> None:
    """Quotes that are not closed, or closed too early, cost their own line and no other."""
    found, issues = read(b"job,gpus\n" + line + b"\nb,2\nc,3\n")

    assert [each.values["job"] for each in found] == ["b", "c"]
    assert [(line, reason.partition(": ")[0]) for line, reason in issues] == [
        (2, "must be comma-separated values")
    ]


def test_what_a_spreadsheet_writes_is_read_back() -> None:
    """Random names with commas, quotes and blanks, written by the csv module, come back as they were."""
    draw = Random(1)
    names = ["".join(draw.choices("ab,\"' ;#", k=draw.randint(1, 8))) for _ in range(500)]
    text = StringIO()
    writer = csv.writer(text)
    writer.writerows([COLUMNS, *([name, 1] for name in names)])
    found, issues = read(text.getvalue().encode())

    assert [each.values["job"] for each in found] == names
    assert issues == []


def test_a_byte_order_mark_is_no_part_of_the_header() -> None:
    """A table that a spreadsheet saved reads like any other."""
    assert len(list(rows("a.csv", b"\xef\xbb\xbfjob,gpus\na,1\n", COLUMNS, []))) == 1


@pytest.mark.parametrize("data", [b"", b"\n", b"job;gpus\n", b"gpus,job\na,1\n", b"\x00\x01\x02", b"a,1\n"])
def test_another_header_is_refused(data: bytes) -> None:
    """A table with another header, or none, is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^a\.csv: header: .*: must be job,gpus$"):
        list(rows("a.csv", data, COLUMNS, []))


def test_further_columns_may_be_empty_and_in_any_order() -> None:
    """On request the header may hold more; only the columns asked for must have values."""
    data = b"# made up\ngpus,note,job\n1,,a\n,x,b\n"

    found, issues = read(data, further=True)

    assert found == [TraceRow("a.csv", 3, {"gpus": "1", "note": "", "job": "a"})]
    assert issues == [(4, "gpus: must not be empty")]


@pytest.mark.parametrize("header", [b"job,note", b"job,gpus,gpus", b"", b"# job,gpus"])
def test_a_header_without_the_columns_is_refused(header: bytes) -> None:
    """A column that is missing, or stands twice, is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^a\.csv: header: .*: must hold job,gpus$"):
        list(rows("a.csv", header + b"\na,1,2\n", COLUMNS, [], further=True))


def test_dates_are_seconds_since_1970() -> None:
    """A date and time counts the seconds since 1970, without a time zone."""
    assert row("1970-01-02 00:00:01").moment("value") == 86401
    with pytest.raises(InvalidInput, match="must be a date and time"):
        row("1970-01-02T00:00:01").moment("value")


def test_a_file_is_found_in_folders(tmp_path: Path) -> None:
    """A file is itself, or lies in the folder of its trace or of all traces."""
    place = Path("tiny/data/a.csv")
    (tmp_path / "tiny" / "data").mkdir(parents=True)
    (tmp_path / place).write_text("x")

    assert find(tmp_path, place) == find(tmp_path / "tiny", place) == find(tmp_path / place, place)
    with pytest.raises(InvalidInput, match=r"must be a file, or a folder with data/a\.csv$"):
        find(tmp_path / "tiny" / "data", place)


def test_rows_with_one_value_are_kept() -> None:
    """Rows are chosen by a column; a value that no row has is refused with those there are."""
    pairs = [(TraceRow("a.csv", line, {"vc": vc}), line) for line, vc in enumerate("xyx")]

    assert [line for _, line in only(pairs, "vc", "x", "a.csv", "cluster")] == [0, 2]
    with pytest.raises(InvalidInput, match=r"^a\.csv: cluster: 'z': must be one of x, y$"):
        only(pairs, "vc", "z", "a.csv", "cluster")


def test_dropped_and_repaired_rows_are_told_apart() -> None:
    """Every issue is either that of a dropped row or that of a repaired one."""
    issues = tuple(Issue(file="a", row=line, reason="x", repaired=line % 2 == 0) for line in range(5))
    reading = Reading(workload=Workload(jobs=()), issues=issues)

    assert [issue.row for issue in reading.dropped] == [1, 3]
    assert [issue.row for issue in reading.repaired] == [0, 2, 4]


def test_plain_and_gzipped_files_read_alike(tmp_path: Path) -> None:
    """A file is decompressed when it is a gzip file, whatever its name."""
    text = b"job,gpus\na,1\n"
    (tmp_path / "plain.csv").write_bytes(text)
    (tmp_path / "packed.csv").write_bytes(gzip.compress(text))

    assert text == content(tmp_path / "plain.csv") == content(tmp_path / "packed.csv")


PACKED = gzip.compress(bytes(range(256)) * 40)

DAMAGED = {
    "cut off": PACKED[:-20],
    "header only": PACKED[:4],
    "another method": PACKED[:2] + b"\x00" + PACKED[3:],
    "flipped bytes": PACKED[:30] + bytes(255 - byte for byte in PACKED[30:60]) + PACKED[60:],
    "wrong checksum": PACKED[:-8] + b"\x00\x00\x00\x00" + PACKED[-4:],
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_gzip_file_is_one_line(tmp_path: Path, data: bytes) -> None:
    """A gzip file that is cut off or damaged is refused in one line."""
    (tmp_path / "a.gz").write_bytes(data)
    with pytest.raises(InvalidInput, match=r"a\.gz: must be a complete gzip file$"):
        content(tmp_path / "a.gz")


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    """A missing file and a folder are refused in one line."""
    with pytest.raises(InvalidInput, match=r"cannot be read: No such file or directory$"):
        content(tmp_path / "missing")
    with pytest.raises(InvalidInput, match=r"cannot be read: Is a directory$"):
        content(tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_an_enormous_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    """A file above the limit is refused, also when it is small until decompressed."""
    monkeypatch.setattr(reading, "_LARGEST", 1000)
    data = b"0" * 1001
    (tmp_path / "a").write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(InvalidInput, match="must hold at most 256 MiB"):
        content(tmp_path / "a")


def test_an_issue_prints_as_one_line() -> None:
    """An issue names file, row and reason."""
    assert str(Issue(file="a.csv", row=3, reason="repeats row 2")) == "a.csv: row 3: repeats row 2"
