"""The reader of Dally's job lists, on made-up files and on the real ones."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.speed import TIER_PENALTIES
from instances.traces import dally
from instances.traces.dally import FILE, LISTS, MODELS
from tests.instances.traces.samples import dally_entry


def written(folder: Path, *entries: object) -> Path:
    """Write a job list."""
    path = folder / "jobs.json"
    path.write_text(json.dumps(entries))
    return path


def test_jobs_are_read(tmp_path: Path) -> None:
    """Every entry is a job that arrives at its start time."""
    reading = dally(written(tmp_path, dally_entry(1), dally_entry(2)))

    assert reading.issues == ()
    assert [(job.name, job.release_date, job.duration, job.gpus) for job in reading.workload.jobs] == [
        ("1", 0.0, 51.0, 2),
        ("2", 100.0, 52.0, 4),
    ]
    assert {(job.model, job.batch_size) for job in reading.workload.jobs} == {("vgg11", 64)}


def test_a_batch_is_released_at_once(tmp_path: Path) -> None:
    """Start times of 0 are a batch, in the order of the file."""
    path = written(tmp_path, *(dally_entry(number, start_time="0") for number in (3, 1, 2)))

    assert [(job.name, job.release_date) for job in dally(path).workload.jobs] == [("3", 0), ("1", 0), ("2", 0)]


def test_arrivals_that_are_to_be_drawn_are_those_of_submission(tmp_path: Path) -> None:
    """A start time of -1 gives way to the time of submission, and every such entry is reported."""
    reading = dally(written(tmp_path, *(dally_entry(number, start_time="-1") for number in (1, 2, 3))))

    assert [job.release_date for job in reading.workload.jobs] == [0.0, 10.0, 20.0]
    assert [issue.row for issue in reading.repaired] == [1, 2, 3]
    assert reading.repaired[0].reason == "start_time: -1: submit_time is used"


def test_arrivals_are_drawn_on_request(tmp_path: Path) -> None:
    """With a mean gap the arrivals are drawn, the same for the same seed, in the order of the file."""
    path = written(tmp_path, *(dally_entry(1, job_id=str(n), start_time="-1") for n in range(400)))
    once, again, other = (dally(path, mean_gap=60, seed=seed) for seed in (1, 1, 2))
    gaps = once.workload.jobs[-1].release_date / 399

    assert once == again != other
    assert [job.name for job in once.workload.jobs] == [str(number) for number in range(400)]
    assert 50 < gaps < 70
    assert once.repaired[0].reason == "start_time: -1: drawn, mean gap 60 s"


def test_arrivals_are_drawn_at_a_load(tmp_path: Path) -> None:
    """The mean gap of a load is the mean GPU time over load and GPUs: 102 s over 0.5 of 4 GPUs is 51 s."""
    path = written(tmp_path, *(dally_entry(1, job_id=str(n), start_time="-1") for n in range(400)))
    drawn = dally(path, load=0.5, gpus=4, seed=3)

    assert drawn.workload == dally(path, mean_gap=51.0, seed=3).workload
    assert drawn.repaired[0].reason == "start_time: -1: drawn, mean gap 51 s"


def test_arrivals_of_the_list_are_taken_on_request(tmp_path: Path) -> None:
    """The arrivals that a list holds are taken where they are to be drawn, the first at second 0."""
    path = written(tmp_path, *(dally_entry(number, start_time="-1") for number in (1, 2, 3)))
    reading = dally(path, listed=True)

    assert [job.release_date for job in reading.workload.jobs] == [0.0, 7.0, 14.0]
    assert reading.repaired[0].reason == "start_time: -1: arrival_time is used"


def test_a_list_is_called_by_name(tmp_path: Path) -> None:
    """In a folder a list is found by its short name and by that of its file."""
    for name in ("sense_500jobs_0start-withBert", "mine"):
        written(tmp_path, dally_entry(1)).rename(tmp_path / f"{name}.json.gz")
    (tmp_path / "jobs").mkdir()
    for file in tmp_path.glob("*.gz"):
        file.rename(tmp_path / "jobs" / file.name)

    assert [len(dally(tmp_path, jobs=name).workload.jobs) for name in ("batch", LISTS["batch"], "mine")] == [
        1
    ] * 3
    with pytest.raises(InvalidInput, match=r"must be a file, or a folder with jobs/yours\.json\.gz$"):
        dally(tmp_path, jobs="yours")


def test_work_is_that_of_the_simulator_or_the_recorded_duration(tmp_path: Path) -> None:
    """Iterations are shared by the demanded GPUs; the recorded duration is taken as it is, and needs none."""
    entry = dally_entry(2, total_iterations="1000", time_per_iteration="0.5", duration="77")
    bare = {key: value for key, value in entry.items() if key not in ("total_iterations", "time_per_iteration")}

    assert dally(written(tmp_path, entry)).workload.jobs[0].duration == 125
    assert dally(written(tmp_path, bare), work="duration").workload.jobs[0].duration == 77


def test_models_have_the_names_of_table_1(tmp_path: Path) -> None:
    """Every model of the lists has a penalty; an unknown one keeps its name."""
    entries = [dally_entry(n, model=model, max_parallelism="1") for n, model in enumerate([*MODELS, "GPT"])]

    assert [job.model for job in dally(written(tmp_path, *entries)).workload.jobs] == [*TIER_PENALTIES, "GPT"]


BAD_OPTIONS = {
    "no load": ({"load": 0}, "load: 0: must be between 1e-6 and 1e6"),
    "a load that is no number": ({"load": float("nan")}, "load: nan: must be between 1e-6 and 1e6"),
    "no GPUs": ({"load": 1, "gpus": 0}, "gpus: 0: must be at least 1"),
    "two ways to arrive": ({"load": 1, "listed": True}, "arrivals: 2: must come from one of mean_gap, load"),
    "a path": ({"jobs": "../batch"}, "jobs: '../batch': must be batch, poisson, day or the name of a list"),
    "arrivals that are there": ({"load": 0.9}, "arrivals: 'jobs.json': are in the list: mean_gap, load and"),
    "a listed batch": ({"listed": True}, "arrivals: 'jobs.json': are in the list"),
    "other work": ({"work": "samples"}, "work: 'samples': must be one of iterations, duration"),
}


@pytest.mark.parametrize(("options", "line"), BAD_OPTIONS.values(), ids=BAD_OPTIONS.keys())
def test_a_bad_option_is_refused(tmp_path: Path, options: dict[str, Any], line: str) -> None:
    """An option out of its range is named in one line with value and rule."""
    with pytest.raises(InvalidInput) as caught:
        dally(written(tmp_path, dally_entry(1)), **options)

    assert str(caught.value).startswith(line)


BAD_ENTRIES = {
    "letters in a number": (
        dally_entry(9, time_per_iteration="6o"),
        "time_per_iteration: '6o': must be a number",
    ),
    "negative work": (
        dally_entry(9, max_parallelism="1", total_iterations="-60"),
        "duration: -6.0: input should be greater than",
    ),
    "no work": (dally_entry(9, total_iterations="0"), "duration: 0.0: input should be greater than"),
    "endless work": (dally_entry(9, total_iterations="1e300", time_per_iteration="1e300"), "duration: inf: "),
    "no iterations": (
        dally_entry(9, total_iterations=None),
        "total_iterations: None: must be a string that is not empty",
    ),
    "no GPUs": (dally_entry(9, max_parallelism="0"), "gpus: 0: input should be greater than"),
    "too many GPUs": (dally_entry(9, max_parallelism="65"), "demands 65 GPUs, more than max_gpus 64"),
    "no batch": (dally_entry(9, max_parallelism="1", batchsize="0"), "batch_size: 0: input should be greater"),
    "a number": (dally_entry(9, batchsize=60), "batchsize: 60: must be a string that is not empty"),
    "an empty text": (dally_entry(9, model=""), "model: '': must be a string that is not empty"),
    "half a character": (dally_entry(9, job_id="\ud800", max_parallelism="1"), "name: '\\ud800': "),
    "a negative arrival": (dally_entry(9, start_time="-1"), "release_date: -1.0: input should be greater than"),
    "a list": ([1, 2], "job_id: must be a string that is not empty"),
    "no entry": (None, "job_id: must be a string that is not empty"),
    "a repeated id": (dally_entry(1), "job '1' is in row 1 of jobs.json already"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD_ENTRIES.values(), ids=BAD_ENTRIES.keys())
def test_a_bad_entry_is_dropped_and_reported(tmp_path: Path, bad: object, reason: str) -> None:
    """A bad entry is dropped with its number and the reason, and the entries around it are read."""
    reading = dally(written(tmp_path, dally_entry(1), bad, dally_entry(2)), max_gpus=64)

    assert [job.name for job in reading.workload.jobs] == ["1", "2"]
    (issue,) = reading.dropped
    assert (issue.file, issue.row) == ("jobs.json", 2)
    assert issue.reason.startswith(reason)


def test_a_real_arrival_among_those_to_be_drawn_is_reported(tmp_path: Path) -> None:
    """Where most arrivals are to be drawn, an entry on another clock is dropped."""
    entries = [dally_entry(number, start_time="-1") for number in (1, 2)]
    reading = dally(written(tmp_path, *entries, dally_entry(3)))

    assert [issue.reason for issue in reading.dropped] == ["start_time: '300': must be -1, as in most entries"]


OTHER_FILES = {
    "no JSON": "[{]",
    "half of it": '[{"job_id": "1"',
    "one object": "{}",
    "one number": "7",
    "an integer without end": "[" + "9" * 5000 + "]",
}


@pytest.mark.parametrize("text", OTHER_FILES.values(), ids=OTHER_FILES.keys())
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    """What is no JSON list is refused in one line."""
    (tmp_path / "jobs.json").write_text(text)
    with pytest.raises(InvalidInput, match=r"^.*jobs\.json: .*must be [^\n]*$"):
        dally(tmp_path / "jobs.json")


@pytest.mark.parametrize("options", [{"mean_gap": 1e12}, {"mean_gap": 1e300}, {"load": 1e-6, "gpus": 1}])
def test_drawn_arrivals_are_on_a_clock(tmp_path: Path, options: dict[str, Any]) -> None:
    """Arrivals that no clock has are refused in one line, and not handed on."""
    entries = [dally_entry(1, job_id=str(n), start_time="-1", total_iterations="1e9") for n in range(400)]
    with pytest.raises(InvalidInput, match=r"^mean_gap: .*: must let all jobs arrive before 1e\+12 s$"):
        dally(written(tmp_path, *entries), **options)


@pytest.mark.parametrize("mean_gap", [0, -1, float("inf"), float("nan")])
def test_a_mean_gap_is_more_than_0(tmp_path: Path, mean_gap: float) -> None:
    """A mean gap of nothing, or without end, is refused."""
    with pytest.raises(InvalidInput, match=r"^mean_gap: .*: must be more than 0$"):
        dally(written(tmp_path, dally_entry(1)), mean_gap=mean_gap)


def test_the_real_day(traces: Path) -> None:
    """The first of April has 344 good jobs with real arrivals over 24 hours."""
    reading = dally(traces)
    jobs = reading.workload.jobs

    assert reading.issues == ()
    assert len(jobs) == 344
    assert (jobs[0].release_date, jobs[-1].release_date) == (0, 86_271)


def test_the_real_batch(traces: Path) -> None:
    """The paper's batch has 500 good jobs of 13,054 GPU-hours, all released at once, a quarter of them BERT."""
    reading = dally(traces, jobs="batch")

    assert reading.issues == ()
    assert len(reading.workload.jobs) == 500
    assert round(reading.workload.gpu_hours) == 13_054
    assert {job.release_date for job in reading.workload.jobs} == {0}
    assert Counter(job.model for job in reading.workload.jobs)["bert-large"] == 125


def test_all_real_lists(traces: Path) -> None:
    """The 23 lists hold 1,034 distinct jobs of six models, none is dropped, and only arrivals are repaired."""
    readings = [
        dally(traces, jobs=path.name.removesuffix(".json.gz"))
        for path in sorted((traces / FILE.parent).glob("sense*.json.gz"))
    ]
    jobs = [job for reading in readings for job in reading.workload.jobs]

    assert (len(readings), len({job.name for job in jobs})) == (23, 1_034)
    assert {job.model for job in jobs} == set(TIER_PENALTIES)
    assert all(reading.dropped == () for reading in readings)
    assert {len(reading.repaired) for reading in readings} == {0, 411, 500}


def test_the_real_arrivals_of_poisson(traces: Path) -> None:
    """At a load of 0.9 on 512 GPUs, the 13,413 GPU-hours of Poisson arrive in about 29 hours."""
    last = dally(traces, jobs="poisson", load=0.9, gpus=512).workload.jobs[-1].release_date

    assert 0.8 < last / 3600 / (13_413 / 0.9 / 512) < 1.25
