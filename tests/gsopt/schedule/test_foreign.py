"""Foreign tables: whatever the columns, units and clocks, the same schedule and workload come out."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Workload
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.schedule.foreign import UNITS, read_schedule, read_workload
from tests.effort import cases

RUNS = {"job_id": "job", "from": "start", "to": "end", "n": "gpus"}
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def theirs(schedule: Schedule, unit: str) -> list[dict[str, Any]]:
    """Write a schedule of whole seconds as somebody else might: other names and unit, floats, more columns."""
    return [
        {
            "user": "ann",
            "job_id": int(run.job),
            "n": float(run.gpus),
            "from": float(Fraction(run.start) / UNITS[unit]),
            "to": float(Fraction(run.end) / UNITS[unit]),
        }
        for run in schedule.segments
    ]


def drawn(seed: int) -> Schedule:
    """Draw segments on whole seconds, some of them late."""
    draw = random.Random(seed)
    late = draw.choice([0, 1_700_000_000])
    starts = [late + draw.randrange(10**6) for _ in range(draw.randint(1, 6))]
    return Schedule(
        tuple(
            Segment(str(draw.randrange(9)), start, start + draw.randint(1, 9999), draw.randint(1, 8))
            for start in starts
        )
    )


@pytest.mark.parametrize("unit", UNITS)
def test_units_and_names(unit: str, tmp_path: Path) -> None:
    """In rows, a data frame and a CSV file alike, times in any unit become the seconds that they stand for."""
    for seed in range(cases(40)):
        schedule = drawn(seed)
        rows = theirs(schedule, unit)
        path = tmp_path / "runs.csv"
        pd.DataFrame(rows).to_csv(path, index=False)
        for table in (rows, pd.DataFrame(rows), path, str(path)):
            read = read_schedule(table, columns=RUNS, time_unit=unit)
            for found, wanted in zip(read.segments, schedule.segments, strict=True):
                assert (found.job, found.gpus) == (wanted.job, wanted.gpus)
                assert found.start == pytest.approx(wanted.start, rel=1e-15, abs=1e-9)
                assert found.end == pytest.approx(wanted.end, rel=1e-15, abs=1e-9)


def test_what_ends_when_another_begins_still_does() -> None:
    """Times that are equal in the table are equal in seconds, whatever the unit and the origin."""
    for tenths in range(1, 300):
        rows = [
            {"job": "a", "start": 0, "end": tenths / 10, "gpus": 1},
            {"job": "b", "start": tenths / 10, "end": 99, "gpus": 1},
        ]
        first, second = read_schedule(rows, time_unit="h", origin=-0.7).segments
        assert first.end == second.start
        assert first.end == pytest.approx(tenths * 360 + 2520)


def test_decimals_of_a_file_are_exact(tmp_path: Path) -> None:
    """A tenth of an hour in a file is 360 s and three times a third is a whole."""
    path = tmp_path / "runs.csv"
    path.write_text("job,start,end,gpus\na,0.1,1/3,2.0\n")
    assert read_schedule(path, time_unit="h").segments == (Segment("a", 360, 1200, 2),)


@pytest.mark.parametrize(
    "stamp",
    [
        "2024-05-01 14:00:00.5",
        "2024-05-01T16:00:00.500+02:00",
        datetime(2024, 5, 1, 14, 0, 0, 500_000),  # noqa: DTZ001 - of no zone, as in most traces
        NOON + timedelta(hours=2, milliseconds=500),
        pd.Timestamp("2024-05-01 14:00:00.5"),
    ],
)
def test_timestamps(stamp: Any) -> None:
    """A timestamp, of UTC unless it says otherwise, counts from the origin in seconds, not in the unit."""
    rows = [{"job": "a", "start": NOON, "end": stamp, "gpus": 1}]
    for table in (rows, pd.DataFrame(rows)):
        (run,) = read_schedule(table, time_unit="h", origin="2024-05-01 12:00").segments
        assert (run.start, run.end) == (0, 7200.5)
    assert read_schedule(rows).segments[0].start == int(NOON.timestamp())


def test_a_duration_instead_of_an_end() -> None:
    """Where there is no end, a duration in the unit or as a time span gives it."""
    for duration in (90, timedelta(minutes=90)):
        rows = [{"job": "a", "start": 30, "duration": duration, "gpus": 1}]
        assert read_schedule(rows, time_unit="min").segments == (Segment("a", 1800, 7200, 1),)


def test_an_end_from_a_duration_is_rounded_once() -> None:
    """A start plus a duration is the end that the table would name: in each unit, 0.1 and 0.2 are 0.3."""
    for unit in UNITS:
        for start, duration, end in (("0.1", "0.2", "0.3"), (0.1, 0.2, 0.3), ("1e-1", "2e-1", "3e-1")):
            rows = [{"job": "a", "start": start, "duration": duration, "gpus": 1}]
            (run,) = read_schedule(rows, time_unit=unit).segments
            (same,) = read_schedule([{**rows[0], "end": end}], time_unit=unit).segments
            assert run == same


def test_placements_and_modes() -> None:
    """GPUs by number are read from lists, arrays and text; a single number is one GPU."""
    for placement in ([3, 1], np.array([3, 1]), "3 1", "3,1", "3; 1"):
        rows = [{"job": "a", "start": 0, "end": 1, "gpus": 2, "placement": placement, "mode": "halves"}]
        assert read_schedule(rows).segments[0] == Segment("a", 0, 1, 2, (3, 1), "halves")
    rows = [{"job": "a", "start": 0, "end": 1, "gpus": 1, "placement": 5}]
    assert read_schedule(rows).segments[0].placement == (5,)


def test_own_files_are_read_as_such(tmp_path: Path) -> None:
    """What a schedule writes is read back equal, as CSV and JSON; jobs stay promised not to be preempted."""
    schedule = Schedule((Segment("a", 0, 1.5, 2, (0, 1), "halves"),), False, (Vacated(2, "machine 0.1"),))
    for suffix, text in [("csv", schedule.to_csv()), ("json", schedule.to_json())]:
        path = tmp_path / f"own.{suffix}"
        path.write_text(text)
        assert read_schedule(path, preemptive=False) == schedule
    path.write_text(replace(schedule, preemptive=True).to_json())
    assert [read_schedule(path, preemptive=may).preemptive for may in (True, False)] == [True, False]


def test_names_are_not_numbers() -> None:
    """A number that became a float beside a missing one is the name that it was; text is kept as it is."""
    for name, wanted in [(17, "17"), (17.0, "17"), ("17.0", "17.0"), ("a b", "a b"), (np.int64(17), "17")]:
        assert read_schedule([RUN | {"job": name}]).segments[0].job == wanted


def test_workloads_from_frames() -> None:
    """Jobs come out by release date; a missing number among whole ones does not change the others."""
    frame = pd.DataFrame(
        {
            "id": [2, 1],
            "submitted": [120.0, 60.0],
            "took": [1.5, 2.0],
            "gpus": [4.0, 1.0],
            "memory": [2**30, None],
            "gpu_type": [None, "V100"],
        }
    )
    columns = {"id": "name", "submitted": "release_date", "took": "duration"}
    workload = read_workload(frame, columns=columns, time_unit="min", name="mine")
    assert workload == Workload(
        name="mine",
        jobs=[
            Job(name="1", release_date=3600, duration=120, gpus=1, gpu_type="V100"),
            Job(name="2", release_date=7200, duration=90, gpus=4, memory=2**30),
        ],
    )


RUN = {"job": "a", "start": 0, "end": 1, "gpus": 1}
JOB = {"name": "a", "release_date": 0, "duration": 1, "gpus": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gpus": 2.5}, r"segments\[0\].gpus: 2.5: must be a whole number"),
        ({"gpus": True}, r"segments\[0\].gpus: True: must be a whole number"),
        ({"gpus": ""}, r"segments\[0\].gpus: is required"),
        ({"end": float("nan")}, r"segments\[0\].end: is required"),
        ({"end": pd.NaT}, r"segments\[0\].end: is required"),
        ({"end": pd.NA}, r"segments\[0\].end: is required"),
        ({"end": float("inf")}, r"segments\[0\].end: inf: must be a finite number or a timestamp"),
        ({"end": "1e999999999"}, r"segments\[0\].end: '1e999999999': must be a finite number"),
        ({"end": "9" * 400}, r"segments\[0\].end: .*: must be a finite number"),
        ({"end": "9" * 9999}, r"segments\[0\].end: .*: must be a finite number"),
        ({"end": "noon"}, r"segments\[0\].end: 'noon': must be a finite number or a timestamp"),
        ({"job": None}, r"segments\[0\].job: is required"),
        ({"placement": [0.5]}, r"segments\[0\].placement: 0.5: must be a whole number"),
    ],
)
def test_cells_that_are_wrong(change: dict[str, Any], message: str) -> None:
    """A cell that is missing or no number gives one line that names it."""
    with pytest.raises(InvalidInput, match=message) as caught:
        read_schedule([RUN | change])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (7, {}, "table: 7: must be a CSV file, a data frame, or rows as mappings"),
        ([1, 2], {}, "table: .*: must be a CSV file"),
        ("no-such-file.csv", {}, "no-such-file.csv: cannot be read"),
        ([RUN], {"time_unit": "weeks"}, "time_unit: 'weeks': must be one of ms, s, min, h, d"),
        ([RUN], {"origin": "noon"}, "origin: 'noon': must be a finite number or a timestamp"),
        ([RUN], {"columns": {"job": "jobs"}}, "columns: 'jobs': must be one of job, start"),
        ([RUN], {"columns": {"id": "job"}}, "columns: 'id': must be one of the columns, which are job, start"),
        ([RUN], {"columns": {"start": "job", "end": "job"}}, "columns: 'job': must be one column only"),
        ([RUN], {"columns": {"end": "start"}}, "columns: end: must be one of the columns"),
    ],
)
def test_tables_that_are_wrong(table: Any, options: dict[str, Any], message: str) -> None:
    """A table that cannot be read, or columns that are not there, give one line."""
    with pytest.raises(InvalidInput, match=message):
        read_schedule(table, **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "header: must name the columns"),
        ("job,job,start,end,gpus\n", "header: 'job': must not occur twice"),
        ("job,start,end,gpus\na,0,1,1,1\n", r"rows\[0\]: .*: has more cells than the header"),
        ("job,start,end\na,0,1\n", "columns: gpus: must be one of the columns, which are job, start, end"),
        ("job,start,end,gpus\na,0,1\n", r"segments\[0\].gpus: is required"),
    ],
)
def test_files_that_are_wrong(text: str, message: str, tmp_path: Path) -> None:
    """A CSV file without its columns or with too many cells gives one line that names the file."""
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=rf"a\.csv: {message}"):
        read_schedule(path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([JOB | {"duration": 0}], r"jobs\[0\].duration: 0.0: input should be greater than "),
        ([JOB | {"release_date": -1}], r"jobs\[0\].release_date: -1.0: input should be greater"),
        ([JOB, JOB], r"jobs\[1\].name: 'a': must differ from every other name"),
        ([JOB | {"memory": 0.5}], r"jobs\[0\].memory: 0.5: must be a whole number"),
    ],
)
def test_jobs_that_are_wrong(rows: list[dict[str, Any]], message: str) -> None:
    """A job that breaks a rule gives one line that names its row."""
    with pytest.raises(InvalidInput, match=message):
        read_workload(rows)


def test_a_workload_in_json_is_refused(tmp_path: Path) -> None:
    """A JSON file is not taken for a table without rows."""
    path = tmp_path / "w.JSON"
    path.write_text(Workload.model_validate({"jobs": [JOB]}).model_dump_json())
    with pytest.raises(InvalidInput, match=r"w\.JSON: must be a CSV file"):
        read_workload(path)


def test_an_empty_table_is_an_empty_schedule() -> None:
    """Without rows there is nothing to refuse."""
    assert read_schedule([]).segments == ()
    assert read_workload(pd.DataFrame()).jobs == ()
