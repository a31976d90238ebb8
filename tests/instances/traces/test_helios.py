"""The Helios reader, on made-up files and on a real one."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces import helios
from tests.instances.traces.samples import HELIOS, HELIOS_LOG

LINES = HELIOS.splitlines()
HEAD, ROWS = LINES[:3], LINES[3:]


def written(folder: Path, *lines: str) -> Path:
    """Write a trace."""
    path = folder / "helios.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_jobs_of_the_slice_are_read(tmp_path: Path) -> None:
    """Every row below the comments is a job; submission is in microseconds, duration in seconds."""
    reading = helios(written(tmp_path, *LINES))

    assert reading.issues == ()
    assert [(job.name, job.release_date, job.duration, job.gpus) for job in reading.workload.jobs] == [
        ("7", 0.0, 24.0, 16),
        ("8", 1.5, 500.0, 1),
        ("9", 4.0, 60.0, 8),
    ]


def test_jobs_of_the_published_log_are_read(tmp_path: Path) -> None:
    """The log with dates is read, too; its jobs without GPUs are dropped and reported."""
    reading = helios(written(tmp_path, HELIOS_LOG.rstrip()))

    assert [(job.name, job.release_date, job.duration, job.gpus) for job in reading.workload.jobs] == [
        ("1", 0.0, 36848.0, 1),
        ("2", 26.0, 249.0, 16),
    ]
    assert [(issue.row, issue.reason[:7]) for issue in reading.dropped] == [(4, "gpus: 0")]


@pytest.mark.parametrize("lines", [LINES, HELIOS_LOG.splitlines()], ids=["slice", "log"])
def test_a_virtual_cluster_is_selected(tmp_path: Path, lines: list[str]) -> None:
    """Only the jobs of the virtual cluster are read, and an unknown one is refused."""
    path = written(tmp_path, *lines)

    assert len(helios(path, virtual_cluster="vc2").workload.jobs) == 1
    with pytest.raises(InvalidInput, match="virtual_cluster: 'vc9': must be one of vc1, vc2"):
        helios(path, virtual_cluster="vc9")


def row(number: str = "5", time: str = "7000000", gpus: str = "8", duration: str = "60.0") -> str:
    """Return a row of the slice."""
    return f"{number},u1,vc1,finetune,{time},{gpus},,1,{duration},60.0,FAILED"


BAD_ROWS = {
    "letters in a number": (row(duration="6o.0"), "duration_s: '6o.0': must be a number"),
    "no number": (row(time="nan"), "submit_time: 'nan': must be a number"),
    "negative submission": (row(time="-1"), "release_date: -1e-06: input should be greater than or equal to 0"),
    "negative duration": (row(duration="-6"), "duration: -6.0: input should be greater than"),
    "no duration": (row(duration="0"), "duration: 0.0: input should be greater than"),
    "no GPUs": (row(gpus="0"), "gpus: 0: input should be greater than"),
    "too many GPUs": (row(gpus="161"), "demands 161 GPUs, more than max_gpus 160"),
    "no id": (row(number=""), "job_id: must not be empty"),
    "too few values": ("5,u1", "must have 11 values, not 2"),
    "a comment among the rows": ("# 5", "must have 11 values, not 1"),
    "a repeated id": (row(number="7"), "job '7' is in row 4 of helios.csv already"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_row_is_dropped_and_reported(tmp_path: Path, bad: str, reason: str) -> None:
    """A bad row is dropped with its line and the reason, and the rows around it are read."""
    reading = helios(written(tmp_path, *HEAD, ROWS[0], bad, ROWS[2]), max_gpus=160)

    assert [job.name for job in reading.workload.jobs] == ["7", "9"]
    (issue,) = reading.issues
    assert (issue.file, issue.row, issue.repaired) == ("helios.csv", 5, False)
    assert issue.reason.startswith(reason)


def test_the_real_trace(traces: Path) -> None:
    """The slice of Venus has 1,867 good jobs of two virtual clusters, in 26 days and on up to 144 GPUs."""
    reading = helios(traces)
    jobs = reading.workload.jobs

    assert reading.issues == ()
    assert len(jobs) == 1_867
    assert [len(helios(traces, virtual_cluster=name).workload.jobs) for name in ("vcvGl", "vcvlY")] == [
        1452,
        415,
    ]
    assert max(job.gpus for job in jobs) == 144
    assert 25 < jobs[-1].release_date / 86400 < 26


def test_no_job_of_the_real_trace_is_larger_than_its_virtual_cluster(traces: Path) -> None:
    """The two virtual clusters have 20 and 2 nodes of 8 GPUs."""
    assert helios(traces, virtual_cluster="vcvGl", max_gpus=160).issues == ()
    assert helios(traces, virtual_cluster="vcvlY", max_gpus=16).issues == ()
