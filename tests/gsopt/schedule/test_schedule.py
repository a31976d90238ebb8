"""Schedules pass through CSV and JSON unchanged, and broken files are refused in one line."""

import csv
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.schedule.foreign import read_schedule
from tests.effort import cases

_NUMBERS = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False) | st.fractions()
_NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"]), min_size=1, max_size=8
)
_SEGMENTS = st.builds(
    Segment,
    job=_NAMES,
    start=_NUMBERS,
    end=_NUMBERS,
    gpus=st.integers(0, 99),
    placement=st.lists(st.integers(0, 99), max_size=4).map(tuple),
    mode=st.just("") | _NAMES,
)
_VACATED = st.builds(Vacated, time=_NUMBERS, server=_NAMES)


@settings(deadline=None, max_examples=cases(200))
@given(
    schedule=st.builds(
        Schedule,
        segments=st.lists(_SEGMENTS, max_size=5).map(tuple),
        preemptive=st.booleans(),
        vacated=st.lists(_VACATED, max_size=3).map(tuple),
    )
)
def test_there_and_back(schedule: Schedule) -> None:
    """What is written is read back equal."""
    assert Schedule.from_csv(schedule.to_csv(), preemptive=schedule.preemptive) == schedule
    assert Schedule.from_json(schedule.to_json()) == schedule


def test_numbers_of_gpus_may_be_written_as_floats() -> None:
    """A table that another program has written says 2.0 where it means 2."""
    text = "job,start,end,gpus,placement\na,0,1,2.0,0 1\n"
    assert Schedule.from_csv(text) == Schedule((Segment("a", 0, 1, 2, (0, 1)),))


def test_files(tmp_path: Path) -> None:
    """The ending of a file says which format it has."""
    schedule = Schedule((Segment("a", 0, Fraction(1, 3), 2),))
    (tmp_path / "s.csv").write_text(schedule.to_csv(), encoding="utf-8")
    (tmp_path / "s.json").write_text(schedule.to_json(), encoding="utf-8")
    assert Schedule.read(tmp_path / "s.csv") == schedule == Schedule.read(tmp_path / "s.json")
    (tmp_path / "s.CSV").write_text(schedule.to_csv(), encoding="utf-8-sig")
    (tmp_path / "bom.json").write_text(schedule.to_json(), encoding="utf-8-sig")
    assert Schedule.read(tmp_path / "s.CSV") == schedule == Schedule.read(tmp_path / "bom.json")


def test_unreadable_files(tmp_path: Path) -> None:
    """A file that cannot be read is refused in one line that names it once."""
    with pytest.raises(InvalidInput, match="cannot be read") as error:
        Schedule.read(tmp_path / "none.csv")
    assert str(error.value).count("none.csv") == 1
    with pytest.raises(InvalidInput, match="must be a path"):
        Schedule.read("s\0.csv")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "header"),
        ("job,start,end\na,0,1\n", "header"),
        ("job,start,end,gpus\n,0,1,1\n", "job"),
        ("job,start,end,gpus\na,zero,1,1\n", "start"),
        ("job,start,end,gpus\na,nan,1,1\n", "start"),
        ("job,start,end,gpus\na,0,inf,1\n", "end"),
        ("job,start,end,gpus\na,0,1/0,1\n", "end"),
        ("job,start,end,gpus\na,0\n", "end"),
        ("job,start,end,gpus\na,0,1,1.5\n", "gpus"),
        ("job,start,end,gpus,placement\na,0,1,1,x\n", "placement"),
        ("job,start,end,gpus\na,0,1,²\n", "gpus"),
        ("job,start,end,gpus\na,²,1,1\n", "start"),
        (f"job,start,end,gpus\na,0,1,{'9' * 5_000}\n", "gpus"),
        (f"job,start,end,gpus\na,0,{'9' * 5_000},1\n", "end"),
        (f"job,start,end,gpus\n{'a' * 200_000},0,1,1\n", ""),
        ("job,start,end,gpus,gpus\na,0,1,1,2\n", "header"),
        ("job,start,end,gpus,colour\na,0,1,1,red\n", "header"),
        ("job,start,end,gpus\na,0,1,1,0\n", "segments[0]"),
        ("job,start,end,gpus\na,0,1\n", "segments[0].gpus"),
        ("job,start,end,gpus,vacated\n,x,,,m\n", "vacated[0].time"),
        ("job,start,end,gpus,vacated\na,0,,,m\n", "vacated[0].job"),
    ],
)
def test_broken_csv(text: str, field: str) -> None:
    """A broken table is refused; the error names the field."""
    with pytest.raises(InvalidInput) as error:
        Schedule.from_csv(text, source="s.csv")
    assert field in error.value.field
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", ""),
        ("[]", ""),
        ("{}", "segments"),
        ("[" * 100_000, ""),
        ('{"segments": 1}', "segments"),
        ('{"segments": [], "preemptive": 1}', "preemptive"),
        ('{"segments": [1]}', "segments[0]"),
        ('{"segments": [{"job": 1}]}', "job"),
        ('{"segments": [{"job": "a", "start": true}]}', "start"),
        ('{"segments": [{"job": "a", "start": 0, "end": NaN}]}', ""),
        ('{"segments": [{"job": "a", "start": 0, "end": 1e999}]}', "end"),
        ('{"segments": [{"job": "a", "start": 0, "end": 1, "gpus": true}]}', "gpus"),
        ('{"segments": [{"job": "a", "start": 0, "end": 1, "gpus": 1, "placement": 0}]}', "placement"),
        ('{"segments": [{"job": "a", "start": 0, "end": 1, "gpus": 1, "placement": [0.5]}]}', "placement"),
        ('{"segments": [], "segments": []}', "segments"),
        ('{"segments": [], "colour": 1}', "colour"),
        ('{"segments": [], "vacated": [{"time": 1}]}', "vacated[0].server"),
        ('{"segments": [], "vacated": [{"time": "1/0", "server": "m"}]}', "vacated[0].time"),
        ('{"segments": [{"job": "a", "start": 0, "end": 1, "gpus": 1, "mode": 2}]}', "segments[0].mode"),
        ('{"segments": [{"job": "a\\n", "start": 0, "end": 1, "gpus": 1}]}', "segments[0].job"),
        ('{"segments": [{"job": "a", "start": 0, "end": 1, "gpus": 1, "colour": 1}]}', "segments[0]"),
        (f'{{"segments": [{{"job": "a", "start": {"9" * 5_000}}}]}}', ""),
    ],
)
def test_broken_json(text: str, field: str) -> None:
    """A broken document is refused; the error names the field."""
    with pytest.raises(InvalidInput) as error:
        Schedule.from_json(text, source="s.json")
    assert field in error.value.field
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", "'=a", "''-a", "'a", "a=b", "7"])
def test_names_are_no_formulas(name: str) -> None:
    """A name that a spreadsheet would run stands behind an apostrophe in CSV, and comes back as it was."""
    schedule = Schedule((Segment(name, 0, 1, 1, (0,), name),), vacated=(Vacated(2, name),))
    text = schedule.to_csv()
    assert Schedule.from_csv(text) == schedule
    cells = [cell for row in csv.reader(StringIO(text)) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


def test_others_read_names_that_are_no_formulas(tmp_path: Path) -> None:
    """The reader of anybody's tables knows the apostrophe too."""
    schedule = Schedule((Segment("=1+1", 0, 1, 1),))
    (tmp_path / "s.csv").write_text(schedule.to_csv())
    assert read_schedule(tmp_path / "s.csv").segments == schedule.segments
