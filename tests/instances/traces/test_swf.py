"""The reader of Standard Workload Format, on made-up files and on a real one."""

from pathlib import Path

import pytest

from instances.traces import swf
from tests.instances.traces.samples import SWF

LINES = SWF.splitlines()
HEAD, ROWS = LINES[:3], LINES[3:]


def written(folder: Path, *lines: str) -> Path:
    """Write a log."""
    path = folder / "log.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


def line(
    number: int = 9, run: str = "60", allocated: str = "4", requested: str = "-1", submit: str = "999"
) -> str:
    """Return the line of one job."""
    return f"{number} {submit} -1 {run} {allocated} -1 -1 {requested} -1 -1 1 1 1 -1 -1 -1 -1 -1"


def test_jobs_are_read(tmp_path: Path) -> None:
    """Every line is a job whose GPUs are its processors."""
    reading = swf(written(tmp_path, *HEAD, *ROWS))

    assert reading.issues == ()
    assert [(job.name, job.release_date, job.duration, job.gpus) for job in reading.workload.jobs] == [
        ("1", 0.0, 1451.0, 128),
        ("2", 1460.0, 3726.0, 32),
        ("3", 5198.0, 1067.0, 1),
    ]


def test_requested_processors_stand_in_for_unknown_ones(tmp_path: Path) -> None:
    """Where the allocated number is unknown the requested one is used, and reported as a repair."""
    reading = swf(written(tmp_path, ROWS[0], line(allocated="-1", requested="16")))

    assert reading.workload.jobs[1].gpus == 16
    assert [str(issue) for issue in reading.repaired] == [
        "log.swf: row 2: allocated processors: unknown: the requested 16 are used"
    ]


def test_without_a_head_any_number_of_processors_is_read(tmp_path: Path) -> None:
    """A log that does not tell the size of its machine has no largest job."""
    assert swf(written(tmp_path, line(allocated="4096"))).workload.jobs[0].gpus == 4096


BAD_ROWS = {
    "letters in a number": (line(run="6o"), "run time: '6o': must be a number"),
    "negative duration": (line(run="-1"), "duration: -1.0: input should be greater than"),
    "no duration": (line(run="0"), "duration: 0.0: input should be greater than"),
    "negative submission": (
        line(submit="-5"),
        "release_date: -5.0: input should be greater than or equal to 0",
    ),
    "no processors": (line(allocated="0"), "gpus: 0: input should be greater than"),
    "unknown processors": (line(allocated="-1"), "gpus: -1: input should be greater than"),
    "more processors than the machine": (
        line(allocated="129"),
        "processors: 129: must be at most MaxProcs, 128",
    ),
    "too few values": ("9 999 -1 60 4", "must have 18 values, not 5"),
    "too many values": (line() + " 7", "must have 18 values, not 19"),
    "empty row": ("", "must have 18 values, not 0"),
    "a repeated id": (line(number=1), "job '1' is in row 4 of log.swf already"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_row_is_dropped_and_reported(tmp_path: Path, bad: str, reason: str) -> None:
    """A bad row is dropped with its line and the reason, and the rows around it are read."""
    reading = swf(written(tmp_path, *HEAD, ROWS[0], bad, ROWS[1]))

    assert [job.name for job in reading.workload.jobs] == ["1", "2"]
    (issue,) = reading.issues
    assert (issue.file, issue.row, issue.repaired) == ("log.swf", 5, False)
    assert issue.reason.startswith(reason)


def test_the_real_trace(traces: Path) -> None:
    """The log of the iPSC has 18,239 jobs over 92 days on powers of two of 128 nodes; 173 of them last 0 s."""
    reading = swf(traces)
    jobs = reading.workload.jobs

    assert (len(jobs), len(reading.dropped), len(reading.repaired)) == (18_066, 173, 0)
    assert all(issue.reason.startswith("duration: 0.0: ") for issue in reading.dropped)
    assert {job.gpus for job in jobs} == {1, 2, 4, 8, 16, 32, 64, 128}
    assert 91 < jobs[-1].release_date / 86400 < 92.1
