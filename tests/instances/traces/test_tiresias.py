"""The reader of Tiresias' job lists, on made-up files and on the real one."""

from pathlib import Path

import pytest

from instances.traces import tiresias
from tests.instances.traces.samples import TIRESIAS

HEADER, *ROWS = TIRESIAS.splitlines()


def written(folder: Path, *rows: str, header: str = HEADER) -> Path:
    """Write rows below the header."""
    path = folder / "jobs.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_jobs_are_read(tmp_path: Path) -> None:
    """Every row is a job with its model."""
    reading = tiresias(written(tmp_path, *ROWS))

    assert reading.issues == ()
    assert [
        (job.name, job.release_date, job.duration, job.gpus, job.model) for job in reading.workload.jobs
    ] == [
        ("0", 0.0, 164.0, 1, "vgg19"),
        ("1", 30.0, 147.0, 8, "vgg11"),
        ("2", 53.0, 127.0, 2, "inception4"),
    ]


def test_milliseconds_are_read_as_seconds(tmp_path: Path) -> None:
    """Lists with times in milliseconds, and with further columns, give the same kind of jobs."""
    header = "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,priority"
    rows = ("5,4,61000,9,bert,4,120000,1000,0", "6,1,62500,9,bert,,120500,1000,0")
    workload = tiresias(written(tmp_path, *rows, header=header), milliseconds=True).workload

    assert [(job.release_date, job.duration, job.batch_size) for job in workload.jobs] == [
        (0.0, 120.0, 4),
        (1.5, 120.5, None),
    ]


BAD_ROWS = {
    "letters in a number": ("7,1,40,9,vgg19,l64,30", "duration: 'l64': must be a number"),
    "no number": ("7,1,inf,9,vgg19,164,30", "submit_time: 'inf': must be a number"),
    "negative duration": ("7,1,40,9,vgg19,-164,30", "duration: -164.0: input should be greater than"),
    "no duration": ("7,1,40,9,vgg19,0,30", "duration: 0.0: input should be greater than"),
    "no GPUs": ("7,0,40,9,vgg19,164,30", "gpus: 0: input should be greater than"),
    "half a GPU": ("7,0.5,40,9,vgg19,164,30", "num_gpu: '0.5': must be a whole number"),
    "too many GPUs": ("7,65,40,9,vgg19,164,30", "demands 65 GPUs, more than max_gpus 64"),
    "no model": ("7,1,40,9,,164,30", "model_name: must not be empty"),
    "too few values": ("7,1,60", "must have 7 values, not 3"),
    "empty row": ("", "must not be empty"),
    "a repeated id": ("0,4,60,9,vgg19,164,30", "job '0' is in row 2 of jobs.csv already"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_row_is_dropped_and_reported(tmp_path: Path, bad: str, reason: str) -> None:
    """A bad row is dropped with its number and the reason, and the rows around it are read."""
    reading = tiresias(written(tmp_path, ROWS[0], bad, ROWS[2]), max_gpus=64)

    assert [job.name for job in reading.workload.jobs] == ["0", "2"]
    (issue,) = reading.issues
    assert (issue.file, issue.row, issue.repaired) == ("jobs.csv", 3, False)
    assert issue.reason.startswith(reason)


def test_the_real_trace(traces: Path) -> None:
    """The real file has 60 good jobs of ten models on 1 to 8 GPUs, over 1,779 s."""
    reading = tiresias(traces)
    jobs = reading.workload.jobs

    assert reading.issues == ()
    assert len(jobs) == 60
    assert len({job.model for job in jobs}) == 10
    assert [sum(job.gpus == gpus for job in jobs) for gpus in (1, 2, 4, 8)] == [30, 10, 10, 10]
    assert (jobs[-1].release_date, max(job.duration for job in jobs)) == (1779, 1800)
