"""The reader of Standard Workload Format, on made-up files and on a real one."""

from pathlib import Path

from instances.traces import swf
from tests.instances.traces.samples import SWF, swf_line, written

LINES = SWF.splitlines()
HEAD, ROWS = LINES[:3], LINES[3:]


def test_requested_processors_stand_in_for_unknown_ones(tmp_path: Path) -> None:
    """Where the allocated number is unknown the requested one is used, and reported as a repair."""
    reading = swf(written(tmp_path / "log.swf", ROWS[0], swf_line(allocated="-1", requested="16")))

    assert reading.workload.jobs[1].gpus == 16
    assert [str(issue) for issue in reading.repaired] == [
        "log.swf: row 2: allocated processors: unknown: the requested 16 are used"
    ]


def test_without_a_head_any_number_of_processors_is_read(tmp_path: Path) -> None:
    """A log that does not tell the size of its machine has no largest job."""
    assert swf(written(tmp_path / "log.swf", swf_line(allocated="4096"))).workload.jobs[0].gpus == 4096


def test_the_real_trace(traces: Path) -> None:
    """The log of the iPSC has 18,239 jobs over 92 days on powers of two of 128 nodes; 173 of them last 0 s."""
    reading = swf(traces)
    jobs = reading.workload.jobs

    assert (len(jobs), len(reading.dropped), len(reading.repaired)) == (18_066, 173, 0)
    assert all(issue.reason.startswith("duration: 0.0: ") for issue in reading.dropped)
    assert {job.gpus for job in jobs} == {1, 2, 4, 8, 16, 32, 64, 128}
    assert 91 < jobs[-1].release_date / 86400 < 92.1
