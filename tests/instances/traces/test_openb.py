"""The reader of openb's pods and nodes, on made-up files and on the real ones."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces import openb
from instances.traces.openb import OpenbNode, PodDemand, read_nodes, read_pods
from instances.traces.reading import Issue
from tests.instances.traces.samples import OPENB, pod, written

HEADER, *ROWS = OPENB.splitlines()


def test_parts_of_gpus_are_rounded_up_or_dropped(tmp_path: Path) -> None:
    """A pod with a part of a GPU gets a whole one, which is reported, or is dropped on request."""
    path = written(tmp_path / "pods.csv", HEADER, *ROWS)

    assert [str(issue) for issue in openb(path).repaired] == [
        "pods.csv: row 3: gpu_milli: 460: rounded up to a whole GPU"
    ]
    whole = openb(path, whole_gpus=True)
    assert [job.name for job in whole.workload.jobs] == ["pod-0", "pod-2"]
    assert [issue.reason for issue in whole.dropped] == ["gpu_milli: 460: must be 1000, a whole GPU"]


def test_several_types_are_any_type(tmp_path: Path) -> None:
    """A choice of types is given up, which is reported; a type named twice is one type."""
    reading = openb(written(tmp_path / "pods.csv", HEADER, pod("a", spec="T4|P100"), pod("b", spec="T4|T4")))

    assert [job.gpu_type for job in reading.workload.jobs] == ["", "T4"]
    assert [issue.reason for issue in reading.repaired] == ["gpu_spec: T4|P100: any type will do"]


def test_a_list_without_times_is_no_workload(tmp_path: Path) -> None:
    """Pods without times can be read as pods, not as jobs."""
    header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli"
    path = written(tmp_path / "pods.csv", header, "a,1000,2000,2,1000")

    assert read_pods(path, []) == (
        PodDemand(name="a", cpu_milli=1000, memory_mib=2000, gpus=2, gpu_milli=1000),
    )
    with pytest.raises(InvalidInput, match=r"header: .*: must hold name,.*,creation_time,deletion_time$"):
        openb(path)


def test_nodes_are_read(tmp_path: Path) -> None:
    """Every row is a node; a bad one is reported."""
    issues: list[Issue] = []
    header = "sn,cpu_milli,memory_mib,gpu,model"
    path = written(
        tmp_path / "pods.csv", header, "n0,32000,262144,0,", "n1,64000,262144,2,P100", "n2,64000,x,2,T4"
    )

    assert read_nodes(path, issues) == (
        OpenbNode(name="n0", cpu_milli=32000, memory_mib=262144, gpus=0),
        OpenbNode(name="n1", cpu_milli=64000, memory_mib=262144, gpus=2, gpu_type="P100"),
    )
    assert [(issue.row, issue.reason) for issue in issues] == [(4, "memory_mib: 'x': must be a whole number")]


def test_the_real_workload(traces: Path) -> None:
    """Of 8,152 pods, 1,088 ask for no GPU and 897 never ran; 37.8 % ask for a part of a GPU."""
    reading = openb(traces)
    reasons = [issue.reason for issue in reading.dropped]

    assert (len(reading.workload.jobs), len(reading.dropped), len(reading.repaired)) == (6_203, 1_949, 2_573)
    assert sum(reason.startswith("scheduled_time: must not be empty") for reason in reasons) == 897
    assert all(reason.startswith(("scheduled_time", "gpus: 0: ")) for reason in reasons)
    assert all("rounded up" in issue.reason for issue in reading.repaired)
    assert {job.gpus for job in reading.workload.jobs} == {1, 2, 4, 8}
    assert reading.workload.jobs[-1].release_date / 86400 < 149.4


def test_the_real_pods_and_nodes(traces: Path) -> None:
    """There are 8,152 pods, 3,078 with a part of a GPU, and 1,213 nodes with 6,212 GPUs of seven types."""
    issues: list[Issue] = []
    pods, nodes = read_pods(traces, issues), read_nodes(traces, issues)

    assert issues == []
    assert (len(pods), sum(pod.gpus == 1 and pod.gpu_milli < 1000 for pod in pods)) == (8_152, 3_078)
    assert (len(nodes), sum(node.gpus for node in nodes)) == (1_213, 6_212)
    assert {node.gpu_type for node in nodes} == {"A10", "G2", "G3", "P100", "T4", "V100M16", "V100M32"}


def test_all_real_lists(traces: Path) -> None:
    """Every list with times is a workload, and those with types name one for some jobs."""
    folder = traces / "alibaba_openb_gpu2023" / "csv"
    lists = [path for path in sorted(folder.glob("openb_pod_list_*.csv.gz")) if "multigpu" not in path.name]
    typed = [path.name for path in lists if any(job.gpu_type for job in openb(path).workload.jobs)]

    assert len(lists) == 20
    assert typed == [f"openb_pod_list_gpuspec{part}.csv.gz" for part in ("05", "10", "20", "25", "33")]
