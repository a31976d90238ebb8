"""Rows that break a rule, by reader: each is dropped and reported, and no other row is."""

from pathlib import Path

import pytest

import instances.traces
from tests.instances.traces.samples import PHILLY, TEXTS, pod, write_sample
from tests.instances.traces.samples import helios_row as row
from tests.instances.traces.samples import swf_line as line

#: The most GPUs of a job that each reader is asked for.
MOST_GPUS = {"helios": 160, "openb": 8, "sia": 4, "swf": None}

#: What stands in place of the last row but one of a sample, and what is said of it.
BAD_ROWS = {
    "helios": {
        "letters in a number": (row(duration="6o.0"), "duration_s: '6o.0': must be a number"),
        "no number": (row(time="nan"), "submit_time: 'nan': must be a number"),
        "negative submission": (
            row(time="-1"),
            "release_date: -1e-06: input should be greater than or equal to 0",
        ),
        "negative duration": (row(duration="-6"), "duration: -6.0: input should be greater than"),
        "no duration": (row(duration="0"), "duration: 0.0: input should be greater than"),
        "no GPUs": (row(gpus="0"), "gpus: 0: input should be greater than"),
        "too many GPUs": (row(gpus="161"), "demands 161 GPUs, more than max_gpus 160"),
        "no id": (row(number=""), "job_id: must not be empty"),
        "too few values": ("5,u1", "must have 11 values, not 2"),
        "a comment among the rows": ("# 5", "must have 11 values, not 1"),
        "a repeated id": (row(number="7"), "job '7' is in row 4 of trace already"),
    },
    "openb": {
        "letters in a number": (pod(deleted="4oo"), "deletion_time: '4oo': must be a number"),
        "no number": (pod(created="nan"), "creation_time: 'nan': must be a number"),
        "negative creation": (pod(created="-1"), "release_date: -1.0: input should be greater than"),
        "deleted before scheduled": (pod(deleted="100"), "duration: -120.0: input should be greater than"),
        "deleted at once": (pod(deleted="220"), "duration: 0.0: input should be greater than"),
        "never scheduled": (pod(scheduled=""), "scheduled_time: must not be empty: the pod never ran"),
        "no GPU": (pod(gpus="0", milli="0"), "gpus: 0: input should be greater than"),
        "half a GPU in a wrong column": (pod(gpus="0.5"), "num_gpu: '0.5': must be a whole number"),
        "more than a GPU of a GPU": (pod(milli="1001"), "gpu_milli: 1001: input should be less than"),
        "too many GPUs": (pod(gpus="9"), "demands 9 GPUs, more than max_gpus 8"),
        "an empty type": (pod(spec="T4|"), "gpu_types[1]: '': "),
        "too few values": ("pod-9,1000", "must have 11 values, not 2"),
        "empty row": ("", "must not be empty"),
        "a repeated name": (pod("pod-0"), "job 'pod-0' is in row 2 of trace already"),
    },
    "philly": {
        "letters in a number": ("2017-10-11 06:13:36,2x59.0,1,1.0,a", "duration: '2x59.0': must be a number"),
        "no number": ("2017-10-11 06:13:36,nan,1,1.0,a", "duration: 'nan': must be a number"),
        "overflow": ("2017-10-11 06:13:36,1e999,1,1.0,a", "duration: inf: input should be"),
        "negative duration": (
            "2017-10-11 06:13:36,-9.0,1,1.0,a",
            "duration: -9.0: input should be greater than",
        ),
        "no duration": ("2017-10-11 06:13:36,0.0,1,1.0,a", "duration: 0.0: input should be greater than"),
        "empty duration": ("2017-10-11 06:13:36,,1,1.0,a", "duration: must not be empty"),
        "no GPUs": ("2017-10-11 06:13:36,9.0,0,1.0,a", "gpus: 0: input should be greater than"),
        "negative GPUs": ("2017-10-11 06:13:36,9.0,-1,1.0,a", "gpus: -1: input should be greater than"),
        "half a GPU": ("2017-10-11 06:13:36,9.0,0.5,1.0,a", "num_gpus: '0.5': must be a whole number"),
        "too many GPUs": ("2017-10-09 12:13:36,9.0,99,1.0,a", "demands 99 GPUs, more than max_gpus 64"),
        "empty row": ("", "must not be empty"),
        "too few values": ("2017-10-11 06:13:36,9.0", "must have 5 values, not 2"),
        "too many values": ("2017-10-11 06:13:36,9.0,1,1.0,a,b", "must have 5 values, not 6"),
        "a quote": ('"2017-10-11 06:13:36,9.0,1,1.0,a', "must be comma-separated values: "),
        "no such month": (
            "2017-13-09 06:13:36,9.0,1,1.0,a",
            "timestamp: '2017-13-09 06:13:36': must be a date",
        ),
        "no such day": ("2017-02-30 06:13:36,9.0,1,1.0,a", "timestamp: '2017-02-30 06:13:36': must be a date"),
        "before all clocks": ("0001-02-03 06:13:36,9.0,1,1.0,a", "release_date: -"),
        "a time zone": (
            "2017-10-11 06:13:36Z,9.0,1,1.0,a",
            "timestamp: '2017-10-11 06:13:36Z': must be a date",
        ),
        "a date alone": ("2017-10-11,9.0,1,1.0,a", "timestamp: '2017-10-11': must be a date"),
        "a repeated row": (PHILLY.splitlines()[1], "repeats row 2"),
    },
    "sia": {
        "letters in a number": ("x,69o,tiny,1,16", "time: '69o': must be a number"),
        "negative submission": (
            "x,-5,tiny,1,16",
            "release_date: -5.0: input should be greater than or equal to 0",
        ),
        "no GPUs": ("x,690,tiny,0,16", "num_replicas: 0: must be a number of GPUs on which tiny was measured"),
        "an absurd number of GPUs": ("x,690,tiny," + "9" * 40 + ",16", "num_replicas: 9"),
        "half a GPU": ("x,690,tiny,0.5,16", "num_replicas: '0.5': must be a whole number"),
        "too many GPUs": ("x,690,deep,8,64", "demands 8 GPUs, more than max_gpus 4"),
        "too large a batch": ("x,690,tiny,1,17", "num_replicas: 1: must be a number of GPUs on which tiny"),
        "no batch": ("x,690,tiny,1,0", "num_replicas: 1: must be a number of GPUs on which tiny was measured"),
        "a negative batch": ("x,690,tiny,1,-16", "num_replicas: 1: must be a number of GPUs on which tiny"),
        "an unknown model": ("x,690,huge,1,16", "application: 'huge': must be one of deep, tiny"),
        "no model": ("x,690,,1,16", "application: must not be empty"),
        "too few values": ("x,690,tiny", "must have 5 values, not 3"),
        "a repeated name": ("tiny-0,690,tiny,1,16", "job 'tiny-0' is in row 2 of workload-1.csv already"),
    },
    "swf": {
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
        "a repeated id": (line(number=1), "job '1' is in row 4 of trace already"),
    },
    "tiresias": {
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
        "a repeated id": ("0,4,60,9,vgg19,164,30", "job '0' is in row 2 of trace already"),
    },
    "itp": {
        "letters in a number": ("d,1,6oo,1", "duration: '6oo': must be a number"),
        "no number": ("d,nan,600,1", "submission_time: 'nan': must be a number"),
        "negative submission": ("d,-1,600,1", "release_date: -1.0: input should be greater than or equal to 0"),
        "negative duration": ("d,1,-600,1", "duration: -600.0: input should be greater than"),
        "no GPUs": ("d,1,600,0", "gpus: 0: input should be greater than"),
        "too many GPUs": ("d,110,600,128", "demands 128 GPUs, more than max_gpus 64"),
        "no id": (",1,600,1", "job_id: must not be empty"),
        "an endless id": ("d" * 201 + ",1,600,1", "name: "),
        "empty row": ("", "must not be empty"),
        "too few values": ("d,1", "must have 4 values, not 2"),
        "a repeated id": ("a,9,900,4", "job 'a' is in row 2 of cluster01.csv already"),
    },
    "gavel": {
        "an unmeasured number of GPUs": (
            "A3C\tx\tx\t0\t700\t0\t2",
            "type: 'A3C': must be a type of job that was measured on 2 GPUs of",
        ),
        "half a step": ("A3C\tx\tx\t0\t700.5\t0\t1", "steps: '700.5': must be a whole number"),
        "no steps": ("A3C\tx\tx\t0\t0\t0\t1", "steps: 0: must be at least 1"),
        "negative submission": ("A3C\tx\tx\t0\t700\t-1\t1", "release_date: -1.0: "),
        "too few values": ("A3C x", "must have 7 or 10 values, not 1"),
    },
}


@pytest.mark.parametrize(
    ("name", "bad", "reason"),
    [
        pytest.param(name, *row, id=f"{name}: {fault}")
        for name, rows in BAD_ROWS.items()
        for fault, row in rows.items()
    ],
)
def test_a_bad_row_is_dropped_and_reported(tmp_path: Path, name: str, bad: str, reason: str) -> None:
    """A bad row is dropped with its file, number and reason, and the rows around it are read."""
    *before, _, last = TEXTS[name].splitlines()
    path = write_sample(name, tmp_path, "\n".join([*before, bad, last]) + "\n")
    reading = getattr(instances.traces, name)(path, max_gpus=MOST_GPUS.get(name, 64))
    whole = getattr(instances.traces, name)(write_sample(name, tmp_path)).workload.jobs

    (issue,) = reading.issues
    file = "cluster01.csv" if name == "itp" else path.name
    assert (issue.file, issue.row, issue.repaired) == (file, len(before) + 1, False)
    assert issue.reason.startswith(reason)
    assert len(whole) == 3
    assert {job.name for job in reading.workload.jobs} < {job.name for job in whole}
    assert len(reading.workload.jobs) == 2
