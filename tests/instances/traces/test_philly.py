"""The Philly reader, on made-up files and on the real one."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.errors import InvalidInput
from instances.traces import philly

HEADER = "timestamp,duration,num_gpus,gpu_time,cluster"
ROWS = (
    "2017-10-09 07:01:55,66.0,1,66.0,11cb48",
    "2017-10-09 06:13:03,2951.0,8,23608.0,6214e9",
    "2017-10-10 06:13:03,10.0,16,160.0,6214e9",
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Give a file with three good rows."""
    return written(tmp_path, ROWS)


def written(folder: Path, rows: tuple[str, ...]) -> Path:
    """Write rows below the header of the trace."""
    path = folder / "philly.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n\n")
    return path


def day(number: int, month: int = 10) -> datetime:
    """Give a day of 2017 in the trace's own clock."""
    return datetime(2017, month, number)  # noqa: DTZ001 - the trace has no time zone


def test_jobs_are_read_by_release_date(trace: Path) -> None:
    """Jobs come by submission, in seconds after the first one, and are named after their rows."""
    reading = philly.scan(trace)

    assert reading.issues == ()
    assert [(job.name, job.release_date, job.duration, job.gpus) for job in reading.workload.jobs] == [
        ("philly-3", 0.0, 2951.0, 8),
        ("philly-2", 2932.0, 66.0, 1),
        ("philly-4", 86400.0, 10.0, 16),
    ]
    assert philly.read(trace) == reading.workload


def test_a_window_begins_at_second_0_and_excludes_its_end(trace: Path) -> None:
    """Only jobs submitted in the window are read, and the window's beginning is second 0."""
    end = datetime.fromisoformat("2017-10-10 06:13:03")
    workload = philly.read(trace, window=(day(9), end))

    assert [job.release_date for job in workload.jobs] == [22383.0, 25315.0]
    assert workload.source == "Microsoft Philly trace, philly.csv, 2017-10-09 00:00:00 to 2017-10-10 06:13:03"
    assert philly.read(trace, window=(day(1), day(2))).jobs == ()


def test_a_virtual_cluster_is_selected(trace: Path) -> None:
    """Only the jobs of the virtual cluster are read."""
    workload = philly.read(trace, virtual_cluster="6214e9")

    assert [job.name for job in workload.jobs] == ["philly-3", "philly-4"]
    assert workload.source == "Microsoft Philly trace, philly.csv, virtual cluster 6214e9"


BAD_ROWS = {
    "letters in a number": ("2017-10-09 06:13:36,2x59.0,1,1.0,a", "duration: '2x59.0': must be a number"),
    "no number": ("2017-10-09 06:13:36,nan,1,1.0,a", "duration: 'nan': must be a number"),
    "overflow": ("2017-10-09 06:13:36,1e999,1,1.0,a", "duration: inf: input should be"),
    "negative duration": ("2017-10-09 06:13:36,-9.0,1,1.0,a", "duration: -9.0: input should be greater than"),
    "no duration": ("2017-10-09 06:13:36,0.0,1,1.0,a", "duration: 0.0: input should be greater than 0"),
    "empty duration": ("2017-10-09 06:13:36,,1,1.0,a", "duration: must not be empty"),
    "no GPUs": ("2017-10-09 06:13:36,9.0,0,1.0,a", "gpus: 0: input should be greater than"),
    "negative GPUs": ("2017-10-09 06:13:36,9.0,-1,1.0,a", "gpus: -1: input should be greater than"),
    "half a GPU": ("2017-10-09 06:13:36,9.0,0.5,1.0,a", "num_gpus: '0.5': must be a whole number"),
    "empty row": ("", "must not be empty"),
    "too few values": ("2017-10-09 06:13:36,9.0", "must have 5 values, not 2"),
    "too many values": ("2017-10-09 06:13:36,9.0,1,1.0,a,b", "must have 5 values, not 6"),
    "a quote": ('"2017-10-09 06:13:36,9.0,1,1.0,a', "timestamp: "),
    "no such month": ("2017-13-09 06:13:36,9.0,1,1.0,a", "timestamp: '2017-13-09 06:13:36': must be a date"),
    "no such day": ("2017-02-30 06:13:36,9.0,1,1.0,a", "timestamp: '2017-02-30 06:13:36': must be a date"),
    "a time zone": ("2017-10-09 06:13:36Z,9.0,1,1.0,a", "timestamp: '2017-10-09 06:13:36Z': must be a date"),
    "a date alone": ("2017-10-09,9.0,1,1.0,a", "timestamp: '2017-10-09': must be a date"),
    "a repeated row": (ROWS[0], "repeats row 2"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_row_is_left_out_and_reported(tmp_path: Path, bad: str, reason: str) -> None:
    """A bad row is left out with its number and the reason, and the rows around it are read."""
    reading = philly.scan(written(tmp_path, (ROWS[0], bad, ROWS[1])))

    assert [job.name for job in reading.workload.jobs] == ["philly-4", "philly-2"]
    (issue,) = reading.issues
    assert (issue.file, issue.row) == ("philly.csv", 3)
    assert issue.reason.startswith(reason)


def test_issues_come_by_row(tmp_path: Path) -> None:
    """Issues found in different steps are reported in the order of their rows."""
    bad = ("2017-10-09 06:13:36,x,1,1.0,a", ROWS[0], "2017-13-09 06:13:36,9.0,1,1.0,a", "")
    reading = philly.scan(written(tmp_path, (ROWS[0], *bad, ROWS[1])))

    assert [issue.row for issue in reading.issues] == [3, 4, 5, 6]


def test_a_trace_without_rows_is_an_empty_workload(tmp_path: Path) -> None:
    """A header alone is a workload without jobs."""
    assert philly.read(written(tmp_path, ())).jobs == ()


def test_bad_arguments_are_refused(trace: Path) -> None:
    """An empty window, a window with a time zone and an unknown virtual cluster are refused in one line."""
    with pytest.raises(InvalidInput, match=r"window: .*: must begin before it ends"):
        philly.read(trace, window=(day(9), day(9)))
    with pytest.raises(InvalidInput, match=r"window: .*: must have no time zone"):
        philly.read(trace, window=(day(1), datetime(2017, 10, 9, tzinfo=UTC)))
    with pytest.raises(InvalidInput, match="virtual_cluster: 'x': must be one of 11cb48, 6214e9"):
        philly.read(trace, virtual_cluster="x")


def test_another_file_is_refused(tmp_path: Path) -> None:
    """A missing file, another table and a gzip file that is cut off are refused in one line."""
    path = tmp_path / "philly.csv.gz"
    with pytest.raises(InvalidInput, match="cannot be read"):
        philly.read(path)
    path.write_text("job_id,submission_time\n")
    with pytest.raises(InvalidInput, match="header: 'job_id,submission_time': must be timestamp,"):
        philly.read(path)
    path.write_bytes(gzip.compress("\n".join([HEADER, *ROWS]).encode())[:-9])
    with pytest.raises(InvalidInput, match="must be a complete gzip file"):
        philly.read(path)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_any_damage_is_reported(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever bytes stand in the rows, every line becomes a job or an issue."""
    text = bytearray("\n".join(ROWS * 2), "utf-8")
    for _ in range(data.draw(st.integers(1, 6))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damage") / "philly.csv"
    path.write_bytes(HEADER.encode() + b"\n" + bytes(text))

    reading = philly.scan(path)

    lines = len(bytes(text).rstrip(b"\r\n").split(b"\n"))
    assert len(reading.workload.jobs) + len(reading.issues) == lines


def test_the_real_trace(traces: Path) -> None:
    """The real file has 82,247 rows, 65 of them repeated, over 108.9 days and 15 virtual clusters' jobs."""
    reading = philly.scan(traces / philly.FILE)
    jobs = reading.workload.jobs

    assert len(jobs) + len(reading.issues) == 82_247
    assert len(reading.issues) == 65
    assert all(issue.reason.startswith("repeats row ") for issue in reading.issues)
    assert jobs[0].release_date == 0
    last = datetime.fromisoformat("2017-12-22 08:02:11") - datetime.fromisoformat("2017-09-04 10:30:41")
    assert jobs[-1].release_date == last.total_seconds()
    assert max(job.gpus for job in jobs) == 128


def test_windows_and_virtual_clusters_of_the_real_trace(traces: Path) -> None:
    """Two halves of the trace make up the whole, and the largest virtual cluster holds half of the jobs."""
    path = traces / philly.FILE
    halves = [
        philly.read(path, window=window) for window in [(day(1, 9), day(1, 11)), (day(1, 11), day(31, 12))]
    ]

    assert sum(len(half.jobs) for half in halves) == 82_182
    assert 41_000 < len(philly.read(path, virtual_cluster="6214e9").jobs) <= 41_226
