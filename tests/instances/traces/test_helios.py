"""The Helios reader, on made-up files and on a real one."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces import helios
from tests.instances.traces.samples import HELIOS, HELIOS_LOG, HELIOS_WHOLE, written

LINES = HELIOS.splitlines()
HEAD, ROWS = LINES[:3], LINES[3:]


def test_jobs_of_the_published_log_are_read(tmp_path: Path) -> None:
    """The log with dates is read, too; its jobs without GPUs are dropped and reported."""
    reading = helios(written(tmp_path / "helios.csv", HELIOS_LOG.rstrip()))

    assert [(job.name, job.release_date, job.duration, job.gpus) for job in reading.workload.jobs] == [
        ("1", 0.0, 36848.0, 1),
        ("2", 26.0, 249.0, 16),
    ]
    assert [(issue.row, issue.reason[:7]) for issue in reading.dropped] == [(4, "gpus: 0")]


def test_jobs_of_all_of_venus_are_read(tmp_path: Path) -> None:
    """The form with all jobs of Venus counts seconds, and names no virtual clusters."""
    path = written(tmp_path / "helios.csv", HELIOS_WHOLE.rstrip())

    assert [(job.name, job.release_date, job.duration, job.gpus) for job in helios(path).workload.jobs] == [
        ("363167#0", 0.0, 172800.0, 32),
        ("394948#2", 651507.5, 60.0, 8),
    ]
    with pytest.raises(InvalidInput, match="virtual_cluster: 'vc1': must be None, as the file names no"):
        helios(path, virtual_cluster="vc1")


def test_all_of_venus(traces: Path) -> None:
    """All 125,303 jobs of Venus are good, in 194 days and on up to 200 GPUs."""
    reading = helios(traces / "helios_venus_full" / "helios_trace.csv.gz")

    assert (len(reading.workload.jobs), reading.issues) == (125_303, ())
    assert max(job.gpus for job in reading.workload.jobs) == 200
    assert 193 < reading.workload.jobs[-1].release_date / 86400 < 194


@pytest.mark.parametrize("lines", [LINES, HELIOS_LOG.splitlines()], ids=["slice", "log"])
def test_a_virtual_cluster_is_selected(tmp_path: Path, lines: list[str]) -> None:
    """Only the jobs of the virtual cluster are read, and an unknown one is refused."""
    path = written(tmp_path / "helios.csv", *lines)

    assert len(helios(path, virtual_cluster="vc2").workload.jobs) == 1
    with pytest.raises(InvalidInput, match="virtual_cluster: 'vc9': must be one of vc1, vc2"):
        helios(path, virtual_cluster="vc9")


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
