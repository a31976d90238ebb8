"""The reader of Tiresias' job lists, on made-up files and on the real one."""

from pathlib import Path

from instances.traces import tiresias
from tests.instances.traces.samples import TIRESIAS, written

HEADER, *ROWS = TIRESIAS.splitlines()


def test_milliseconds_are_read_as_seconds(tmp_path: Path) -> None:
    """Lists with times in milliseconds, and with further columns, give the same kind of jobs."""
    header = "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,priority"
    rows = ("5,4,61000,9,bert,4,120000,1000,0", "6,1,62500,9,bert,,120500,1000,0")
    workload = tiresias(written(tmp_path / "jobs.csv", header, *rows), milliseconds=True).workload

    assert [(job.release_date, job.duration, job.batch_size) for job in workload.jobs] == [
        (0.0, 120.0, 4),
        (1.5, 120.5, None),
    ]


def test_the_real_trace(traces: Path) -> None:
    """The real file has 60 good jobs of ten models on 1 to 8 GPUs, over 1,779 s."""
    reading = tiresias(traces)
    jobs = reading.workload.jobs

    assert reading.issues == ()
    assert len(jobs) == 60
    assert len({job.model for job in jobs}) == 10
    assert [sum(job.gpus == gpus for job in jobs) for gpus in (1, 2, 4, 8)] == [30, 10, 10, 10]
    assert (jobs[-1].release_date, max(job.duration for job in jobs)) == (1779, 1800)
