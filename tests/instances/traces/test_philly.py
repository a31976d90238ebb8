"""The Philly reader, on made-up files and on the real one."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces import philly
from instances.traces.philly import FILE
from instances.traces.reading import Reading, content
from tests.instances.traces.samples import PHILLY, PHILLY_WHOLE, written

HEADER, *ROWS = PHILLY.splitlines()


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a file with three good rows."""
    return written(tmp_path / "philly.csv", HEADER, *ROWS)


def day(number: int, month: int = 10) -> datetime:
    """Return a day of 2017 in the trace's own clock."""
    return datetime(2017, month, number)  # noqa: DTZ001 - the trace has no time zone


def test_rows_in_no_order_are_reported_once(trace: Path) -> None:
    """The first row released before the one above it is reported as repaired, with the number of such rows."""
    (issue,) = philly(trace).issues

    assert issue.repaired
    assert str(issue) == (
        "philly.csv: row 3: is released before the row above it, the first of 1 such rows; all were sorted"
    )


def test_dates_exclude_their_end(trace: Path) -> None:
    """Only jobs submitted from the first date on and before the second are read."""
    workload = philly(trace, dates=(day(9), datetime.fromisoformat("2017-10-10 06:13:03"))).workload

    assert [job.release_date for job in workload.jobs] == [0.0, 2932.0]
    assert workload.source == "Microsoft Philly trace, philly.csv, 2017-10-09 00:00:00 to 2017-10-10 06:13:03"
    assert philly(trace, dates=(day(1), day(2))).workload.jobs == ()


def test_a_virtual_cluster_is_selected(trace: Path) -> None:
    """Only the jobs of the virtual cluster are read."""
    workload = philly(trace, virtual_cluster="6214e9").workload

    assert [job.name for job in workload.jobs] == ["philly-3", "philly-4"]
    assert workload.source == "Microsoft Philly trace, philly.csv, virtual cluster 6214e9"


def test_issues_come_by_row(tmp_path: Path) -> None:
    """Issues found in different steps are reported in the order of their rows."""
    bad = ("2017-10-09 06:13:36,x,1,1.0,a", ROWS[0], "2017-13-09 06:13:36,9.0,1,1.0,a", "")
    reading = philly(written(tmp_path / "philly.csv", HEADER, ROWS[0], *bad, ROWS[2]))

    assert [issue.row for issue in reading.issues] == [3, 4, 5, 6]


def test_a_trace_without_rows_is_an_empty_workload(tmp_path: Path) -> None:
    """A header alone is a workload without jobs."""
    assert philly(written(tmp_path / "philly.csv", HEADER)).workload.jobs == ()


def test_bad_options_are_refused(trace: Path) -> None:
    """Empty dates, dates with a time zone and an unknown virtual cluster are refused in one line."""
    with pytest.raises(InvalidInput, match=r"dates: .*: must begin before they end"):
        philly(trace, dates=(day(9), day(9)))
    with pytest.raises(InvalidInput, match=r"dates: .*: must have no time zone"):
        philly(trace, dates=(day(1), datetime(2017, 10, 9, tzinfo=UTC)))
    with pytest.raises(InvalidInput, match="virtual_cluster: 'x': must be one of 11cb48, 6214e9"):
        philly(trace, virtual_cluster="x")


def test_all_jobs_are_read(tmp_path: Path) -> None:
    """The form with all jobs counts seconds, has no virtual clusters and no dates, and may repeat no row."""
    header, *lines = PHILLY_WHOLE.splitlines()
    path = written(tmp_path / "philly.csv", header, *lines, lines[1])
    reading = philly(path)

    assert [(job.name, job.release_date, job.duration, job.gpus) for job in reading.workload.jobs] == [
        ("philly-0", 0.0, 3613033.0, 1),
        ("philly-1", 266563.0, 60.0, 8),
    ]
    assert [issue.reason[:13] for issue in reading.dropped] == ["duration: 0.0", "repeats row 3"]
    with pytest.raises(InvalidInput, match="virtual_cluster: 'x': must be None, as the file has none"):
        philly(path, virtual_cluster="x")
    with pytest.raises(InvalidInput, match=r"dates: .*: must be None, as the file has none"):
        philly(path, dates=(day(1), day(2)))


def test_the_whole_trace(traces: Path) -> None:
    """Of 111,549 jobs ten have no duration; the first of the others lasts 42 days."""
    reading = philly(traces / "philly_full" / "philly_trace.csv.gz")
    jobs = reading.workload.jobs

    assert (len(jobs), len(reading.dropped)) == (111_539, 10)
    assert all(issue.reason.startswith("duration: 0.0") for issue in reading.dropped)
    assert 41 < jobs[0].duration / 86400 < 42
    assert max(job.gpus for job in jobs) == 128


def test_the_real_trace(whole_philly: Reading) -> None:
    """The real file has 82,247 rows in no order, 65 of them repeated, over 108.9 days."""
    jobs = whole_philly.workload.jobs

    assert len(jobs) == 82_182
    assert len(whole_philly.dropped) == 65
    assert all(issue.reason.startswith("repeats row ") for issue in whole_philly.dropped)
    assert [issue.row for issue in whole_philly.repaired] == [3]
    last = datetime.fromisoformat("2017-12-22 08:02:11") - datetime.fromisoformat("2017-09-04 10:30:41")
    assert (jobs[0].release_date, jobs[-1].release_date) == (0, last.total_seconds())
    assert {job.gpus for job in jobs} == {1, 2, 4, 8, 12, 16, 24, 32, 64, 128}


def test_parts_of_the_real_trace(traces: Path, whole_philly: Reading, late_philly: Reading) -> None:
    """From October on it is the end of the whole, and the largest virtual cluster holds half of the jobs."""
    whole, late = ([job.name for job in part.workload.jobs] for part in (whole_philly, late_philly))

    assert late == whole[-76_531:]
    assert 41_000 < len(philly(traces, virtual_cluster="6214e9").workload.jobs) <= 41_226


def test_the_gpu_cap_on_the_real_trace(traces: Path, tmp_path: Path, whole_philly: Reading) -> None:
    """Three jobs demand 128 GPUs: they are dropped, or capped, and reported; so are not those of 64."""
    large = {
        int(job.name.removeprefix("philly-")): job.gpus for job in whole_philly.workload.jobs if job.gpus > 32
    }
    lines = content(traces / FILE).decode().splitlines()
    path = written(tmp_path / "philly.csv", HEADER, *(lines[row - 1] for row in sorted(large)))
    dropped, capped = philly(path, max_gpus=64), philly(path, max_gpus=64, cap=True)

    assert list(large.values()).count(128) == 3
    assert (len(dropped.workload.jobs), len(dropped.dropped)) == (len(large) - 3, 3)
    assert {job.gpus for job in dropped.workload.jobs} == {64}
    assert [job.gpus for job in capped.workload.jobs] == [64] * len(large)
    assert sum("capped at 64" in issue.reason for issue in capped.repaired) == 3
