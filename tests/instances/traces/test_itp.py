"""The ITP reader, on made-up archives and on the real one."""

import gzip
import tarfile
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces import itp
from instances.traces.itp import FILE
from instances.traces.reading import Reading
from tests.instances.traces.samples import packed

HEADER = "job_id,submission_time,duration,num_gpu\n"
FIRST = HEADER + "b,50,700,1\na,100,600,8"
SECOND = HEADER + "c,75,3600,64\n"


def written(folder: Path, data: bytes) -> Path:
    """Write an archive."""
    path = folder / "raw-traces.tar.gz"
    path.write_bytes(data)
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return an archive of two clusters and a licence."""
    members = {"cluster02_csv": SECOND, "cluster01_csv": FIRST, "LICENSE": "MIT"}
    return written(tmp_path, gzip.compress(packed(**members)))


def test_clusters_are_read_as_one_workload(trace: Path) -> None:
    """Jobs of all clusters come by release date under their own ids; clusters need no order."""
    reading = itp(trace)

    assert reading.issues == ()
    assert [(job.name, job.release_date, job.duration, job.gpus) for job in reading.workload.jobs] == [
        ("b", 0.0, 700.0, 1),
        ("c", 25.0, 3600.0, 64),
        ("a", 50.0, 600.0, 8),
    ]


def test_clusters_are_selected(trace: Path) -> None:
    """Only the chosen clusters are read, each once."""
    workload = itp(trace, clusters=[2, 2]).workload

    assert [job.name for job in workload.jobs] == ["c"]
    assert workload.source == "Microsoft ITP trace, raw-traces.tar.gz, clusters 2"


def test_models_and_batch_sizes_are_read_where_there_are_any(tmp_path: Path) -> None:
    """The archive that names models is read as well."""
    table = (
        "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
        "a,7,99,bert,9,128,16,604\n"
    )
    (job,) = itp(written(tmp_path, packed(cluster01_csv=table))).workload.jobs

    assert (job.gpus, job.duration, job.model, job.batch_size) == (16, 604.0, "bert", 128)


def test_an_id_stands_once_in_all_clusters(tmp_path: Path) -> None:
    """A job of an id that another cluster has is dropped."""
    reading = itp(written(tmp_path, packed(cluster01_csv=FIRST, cluster02_csv=HEADER + "a,9,900,4\n")))

    (issue,) = reading.issues
    assert str(issue) == "cluster02.csv: row 2: job 'a' is in row 3 of cluster01.csv already"


def test_an_unknown_cluster_is_refused(trace: Path) -> None:
    """A cluster that the archive does not hold is refused in one line."""
    with pytest.raises(InvalidInput, match=r"clusters: 3: must be one of 1, 2$"):
        itp(trace, clusters=[1, 3])


OTHER_FILES = {
    "cut off": (gzip.compress(packed(cluster01_csv=FIRST))[:-9], "must be a complete gzip file"),
    "a cut archive": (packed(cluster01_csv=HEADER * 50)[:1000], "must be a complete tar archive"),
    "no archive": (b"job_id,submission_time", "must be a complete tar archive"),
    "other members": (packed(notes_txt="hello"), "must hold files cluster01.csv"),
    "another table": (packed(cluster01_csv="a,b\n1,2\n"), "cluster01.csv: header: 'a,b': must hold job_id"),
}


@pytest.mark.parametrize(("data", "rule"), OTHER_FILES.values(), ids=OTHER_FILES.keys())
def test_another_file_is_refused(tmp_path: Path, data: bytes, rule: str) -> None:
    """A damaged archive or another file is refused in one line."""
    with pytest.raises(InvalidInput) as caught:
        itp(written(tmp_path, data))

    assert rule in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_member_larger_than_its_archive_is_refused(tmp_path: Path) -> None:
    """An entry that claims a size far beyond the archive's is refused before it is read."""
    entry = tarfile.TarInfo("cluster01.csv")
    entry.size = 2**40
    with pytest.raises(InvalidInput, match="must be a complete tar archive"):
        itp(written(tmp_path, entry.tobuf() + HEADER.encode()))


def test_the_real_trace(whole_itp: Reading) -> None:
    """The real file has 69,351 jobs of ten clusters, 1,632,719.7 GPU-hours and no bad row."""
    reading = whole_itp
    gpus = {job.gpus for job in reading.workload.jobs}

    assert len(reading.workload.jobs) == 69_351
    assert round(reading.workload.gpu_hours, 1) == 1_632_719.7
    assert reading.issues == ()
    assert min(job.duration for job in reading.workload.jobs) == 600
    assert gpus == {1, 2, 4, 8, 16, 32, 64}


def test_clusters_of_the_real_trace(traces: Path) -> None:
    """Every cluster has its published number of jobs."""
    expected = [1595, 5778, 3011, 15802, 3629, 2396, 12699, 13047, 11134, 260]

    counts = [len(itp(traces, clusters=[number]).workload.jobs) for number in range(1, 11)]

    assert expected == counts


def test_both_real_archives_hold_the_same_jobs(traces: Path, whole_itp: Reading) -> None:
    """The archive with models has the same jobs, each with one of six models."""
    plain = whole_itp.workload.jobs
    modelled = itp((traces / FILE).with_name("elasticflow-traces.tar.gz")).workload.jobs

    assert [(job.name, job.release_date, job.duration, job.gpus) for job in plain] == [
        (job.name, job.release_date, job.duration, job.gpus) for job in modelled
    ]
    assert {job.model for job in modelled} == {"bert", "deepspeech2", "gpt2", "inception3", "resnet50", "vgg16"}
