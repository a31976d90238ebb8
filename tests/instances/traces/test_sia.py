"""The reader of Sia's workloads, on made-up files and on the real ones."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from instances.traces import sia
from tests.effort import cases
from tests.instances.traces.samples import SIA, sia_folder

HEADER, *ROWS = SIA.splitlines()


def written(folder: Path, *rows: str) -> Path:
    """Write a workload and its profiles."""
    return sia_folder(folder, "\n".join([HEADER, *rows]) + "\n")


def test_durations_and_menus_follow_from_the_profiles(tmp_path: Path) -> None:
    """100 iterations of 1/4 s on one GPU, or 5/32 s on two: the job's length and speeds."""
    first, second, _ = sia(written(tmp_path, *ROWS)).workload.jobs

    assert (first.release_date, first.gpus, first.duration) == (0.0, 1, 25.0)
    assert first.menu == ((1, 1.0), (2, 1.6))
    assert (second.release_date, second.gpus, second.duration) == (183.0, 2, 15.625)
    assert second.menu == ((1, 0.625), (2, 1.0))
    assert (first.model, first.batch_size) == ("tiny", 16)


def test_full_nodes_come_first(tmp_path: Path) -> None:
    """On nodes of eight GPUs, twelve GPUs are one node and a half."""
    deep = sia(written(tmp_path, *ROWS)).workload.jobs[2]

    # 64 samples: 16 on each of 4 GPUs, 8 on each of 8; 6 on each of 12 were not measured
    assert deep.counts == (4, 8)
    # a third of the way from batch size 32 to 128 there are 800 iterations; and from 8 samples to 32, 2/3 s
    assert deep.duration == pytest.approx(800 * (0.5 + 0.5 / 3))
    assert deep.speed(8) == pytest.approx((0.5 + 0.5 / 3) / 0.6)


def test_profiles_may_lie_elsewhere(tmp_path: Path) -> None:
    """The folder of the profiles is found beside or above the file, or is given."""
    path = written(tmp_path, *ROWS)
    shutil.move(tmp_path / "profiles", tmp_path / "measured")

    assert len(sia(path, profiles=tmp_path / "measured").workload.jobs) == 3
    with pytest.raises(InvalidInput, match="profiles: must be a folder beside or above the file"):
        sia(path)
    with pytest.raises(InvalidInput, match=r"profiles: must hold <model>/placements-rtx\.csv"):
        sia(path, profiles=tmp_path)


def test_the_gpu_cap_reaches_menus(tmp_path: Path) -> None:
    """A capped job runs on fewer of its counts, and as long as its profile says."""
    capped = sia(written(tmp_path, *ROWS), max_gpus=1, cap=True)
    second = capped.workload.jobs[1]

    assert (second.gpus, second.duration, second.menu) == (1, 25.0, ((1, 1.0),))
    # the third job cannot run on one GPU
    assert [issue.row for issue in capped.dropped] == [4]
    assert [issue.row for issue in capped.repaired] == [3]


BAD_PROFILE_ROWS = {
    "letters in a number": ("16,o.2,0.0,1", "step_time: 'o.2': must be a number"),
    "no time": ("16,0,0.0,1", "step_time: '0': must be between 1e-12 and 1e+12"),
    "a negative time": ("16,0.2,-0.1,1", "sync_time: '-0.1': must be between 0 and 1e+12"),
    "endless": ("16,1e999,0.0,1", "step_time: '1e999': must be between"),
    "no samples": ("0,0.2,0.0,1", "local_bsz: '0': must be between 1 and"),
    "no placement": ("16,0.2,0.0,x", "placement: 'x': must be the GPUs on each node"),
    "an empty node": ("16,0.2,0.0,10", "placement: '10': must be the GPUs on each node"),
    "too few values": ("16,0.2", "must have 4 values, not 2"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD_PROFILE_ROWS.values(), ids=BAD_PROFILE_ROWS.keys())
def test_a_bad_row_of_a_profile_is_reported(tmp_path: Path, bad: str, reason: str) -> None:
    """A bad row of a profile is reported with its file, and jobs that need it are dropped."""
    path = written(tmp_path, *ROWS)
    placements = tmp_path / "profiles" / "tiny" / "placements-rtx.csv"
    placements.write_text(placements.read_text().replace("16,0.25,0.0,1", bad))
    reading = sia(path)

    assert [(issue.file, issue.row) for issue in reading.dropped] == [("tiny/placements-rtx.csv", 3)]
    assert reading.dropped[0].reason.startswith(reason)
    # in two parts of 8 samples, 1/8 s each, the job takes as long as before
    assert reading.workload.jobs[0].duration == 25.0


def test_options_are_checked(tmp_path: Path) -> None:
    """An unknown type of GPU and a workload that does not exist are refused in one line."""
    with pytest.raises(InvalidInput, match="gpu: 'h100': must be one of aws, azure"):
        sia(written(tmp_path, *ROWS), gpu="h100")
    with pytest.raises(
        InvalidInput, match=r"must be a file, or a folder with workloads/newtrace/workload-11\.csv"
    ):
        sia(tmp_path, number=11)


@settings(deadline=None, max_examples=cases(100))
@given(st.data())
def test_damaged_profiles_are_a_report_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever bytes of a profile are changed, there is a reading or one line of error."""
    path = written(tmp_path_factory.mktemp("damage"), *ROWS)
    files = sorted(path.parents[2].glob("profiles/*/*.csv"))
    for _ in range(data.draw(st.integers(1, 5))):
        file = data.draw(st.sampled_from(files))
        text = bytearray(file.read_bytes())
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(b"0189.,-e\n\xff"))
        file.write_bytes(text)
    try:
        line, found = "", len(sia(path).workload.jobs)
    except InvalidInput as error:
        line, found = str(error), 0

    assert "\n" not in line
    assert found <= 3


def test_the_real_workloads(traces: Path) -> None:
    """The ten workloads of newTrace have 960 good jobs each in 48 hours, all with a length and a menu."""
    for number in range(1, 11):
        reading = sia(traces, number=number)
        jobs = reading.workload.jobs

        assert reading.issues == ()
        assert len(jobs) == 960
        assert jobs[-1].release_date < 48 * 3600
        assert {job.model for job in jobs} == {"bert", "cifar10", "deepspeech2", "imagenet", "yolov3"}
        assert all(job.gpus in job.counts and len(job.counts) > 1 for job in jobs)


@pytest.mark.parametrize(("trace", "numbers"), [("philly", 8), ("saturn", 10)])
def test_the_real_samples(traces: Path, trace: str, numbers: int) -> None:
    """The workloads sampled from Philly and Saturn have 160 good jobs each in 8 hours."""
    readings = [sia(traces, trace=trace, number=number) for number in range(1, numbers + 1)]

    assert {len(reading.workload.jobs) for reading in readings} == {160}
    assert all(reading.issues == () for reading in readings)
    assert all(reading.workload.jobs[-1].release_date < 8 * 3600 for reading in readings)


@pytest.mark.parametrize(("rate", "jobs"), [(10, 80), (20, 160), (30, 240), (40, 320), (50, 400)])
def test_the_real_rates(traces: Path, rate: int, jobs: int) -> None:
    """The workloads of five arrival rates have 80 to 400 good jobs."""
    reading = sia(traces, trace=f"scale/rate_{rate}", number=10)

    assert reading.issues == ()
    assert len(reading.workload.jobs) == jobs


@pytest.mark.parametrize("gpu", ["aws", "azure", "dgx", "dgx-ext", "rtx"])
def test_the_real_profiles(traces: Path, gpu: str) -> None:
    """Every job was measured on the GPUs it demands, and no count is ten times as fast or slow per GPU."""
    reading = sia(traces, gpu=gpu)

    assert len(reading.workload.jobs) == 960
    shares = [job.speed(count) * job.gpus / count for job in reading.workload.jobs for count in job.counts]
    assert 0.1 < min(shares) < 1 < max(shares) < 10


def test_a_small_cluster_has_not_measured_all(traces: Path) -> None:
    """The four Quadro GPUs leave most jobs without a length: they are dropped and reported."""
    reading = sia(traces, gpu="quad")

    assert (len(reading.workload.jobs), len(reading.dropped)) == (81, 879)


def test_nodes_of_another_size(traces: Path) -> None:
    """On nodes of four every job has a length, too, and menus reach 24 GPUs; a node has a digit."""
    jobs = sia(traces, gpus_per_node=4).workload.jobs

    assert len(jobs) == 960
    assert max(job.counts[-1] for job in jobs) == 24
    for gpus_per_node in (0, 10):
        with pytest.raises(InvalidInput, match=r"gpus_per_node: .*: must be between 1 and 9"):
            sia(traces, gpus_per_node=gpus_per_node)
