"""The reader of Gavel's traces, on made-up files and on the real ones."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces import gavel
from tests.instances.traces.samples import gavel_folder


def test_jobs_are_read(tmp_path: Path) -> None:
    """Lines of both formats are jobs whose length is their steps at the measured speed."""
    reading = gavel(gavel_folder(tmp_path))

    assert reading.issues == ()
    assert [
        (job.name, job.release_date, job.duration, job.gpus, job.model, job.batch_size, job.samples_in())
        for job in reading.workload.jobs
    ] == [
        ("0", 0.0, 100.0, 1, "A3C", 1, 700.0),
        ("1", 60.0, 200.0, 4, "LM", 5, 20_000.0),
        ("2", 90.5, 100.0, 2, "LM", 5, 4750.0),
    ]


def test_other_types_are_modes(tmp_path: Path) -> None:
    """A job has a mode for each further type of GPU on which it was measured to run at all."""
    jobs = gavel(gavel_folder(tmp_path), gpu_types=["v100", "k80", "p100"]).workload.jobs

    assert [job.gpu_type for job in jobs] == ["v100"] * 3
    assert [[(mode.name, mode.gpu_type, mode.menu) for mode in job.modes] for job in jobs] == [
        [("k80", "k80", ((1, 0.5),))],
        [],
        [],
    ]


def test_bad_options_are_refused(tmp_path: Path) -> None:
    """An unknown type of GPU, one named twice, and a trace without a table of speeds are refused."""
    path = gavel_folder(tmp_path)
    for kinds in (["a100"], ["v100", "v100"], []):
        with pytest.raises(InvalidInput, match=r"gpu_types: .*must be different ones of k80, p100, v100"):
            gavel(path, gpu_types=kinds)
    (tmp_path / "simulation_throughputs.json").unlink()
    with pytest.raises(InvalidInput, match=r"must be simulation_throughputs\.json beside or above"):
        gavel(path)


def test_real_traces_are_read(traces: Path) -> None:
    """The job lists of the artifact evaluation and of a virtual cluster of Microsoft are read whole."""
    evaluation = gavel(traces)
    philly = gavel(traces, trace="msr/seed=0/795a4c", gpu_types=["v100", "p100", "k80"])

    assert evaluation.issues == philly.issues == ()
    assert [job.gpus for job in evaluation.workload.jobs].count(2) == 3
    assert all(len(job.modes) == 2 for job in philly.workload.jobs)
