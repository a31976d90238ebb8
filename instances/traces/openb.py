"""openb: pods and nodes of an Alibaba cluster from 2023 that shares GPUs among pods."""

from pathlib import Path
from typing import Annotated, Unpack

from pydantic import Field

from gsopt.core.errors import InvalidInput
from gsopt.core.problem import Frozen, Many, Name
from gsopt.scenario.job import Job
from instances.traces.reading import Issue, Reading, TraceRow, find, read_table
from instances.traces.selection import Selection, select

#: Path of the lists in the folder of public traces.
FOLDER = Path("alibaba_openb_gpu2023/csv")

_NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu")
_POD_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
_TIME_COLUMNS = ("creation_time", "deletion_time")
_WHOLE = 1000

_Amount = Annotated[int, Field(ge=0, le=10**12)]
_GpuCount = Annotated[int, Field(ge=0, le=10**6)]


class OpenbNode(Frozen):
    """A server with its CPU cores in thousandths, its main memory in MiB, and its GPUs, all of one type."""

    name: Name
    cpu_milli: _Amount
    memory_mib: _Amount
    gpus: _GpuCount
    gpu_type: str = ""


class PodDemand(Frozen):
    """A pod's demand: CPU cores in thousandths, main memory in MiB, and GPUs.

    The pod requests `gpu_milli` thousandths of each of its GPUs. The GPUs must be of one of `gpu_types`, or of
    any type if that is empty.
    """

    name: Name
    cpu_milli: _Amount
    memory_mib: _Amount
    gpus: _GpuCount
    gpu_milli: Annotated[int, Field(ge=0, le=_WHOLE)]
    gpu_types: Many[Name] = ()


def read_nodes(path: str | Path, issues: list[Issue]) -> tuple[OpenbNode, ...]:
    """Read a list of nodes, and report rows with a missing or invalid value.

    If `path` is a folder, the list of all nodes with GPUs is read.
    """
    file = find(path, FOLDER / "openb_node_list_gpu_node.csv.gz")
    return tuple(node for _, node in read_table(file, _NODE_COLUMNS, _node, issues))


def read_pods(path: str | Path, issues: list[Issue], *, pods: str = "default") -> tuple[PodDemand, ...]:
    """Read a list of pods, with `pods` as in `openb`, and report rows with a missing or invalid value."""
    file = find(path, FOLDER / f"openb_pod_list_{pods}.csv.gz")
    return tuple(pod for _, pod in read_table(file, _POD_COLUMNS, _pod, issues))


def openb(
    path: str | Path, *, pods: str = "default", whole_gpus: bool = False, **selection: Unpack[Selection]
) -> Reading:
    """Read pods as jobs: creation time (s), time from scheduling to deletion (s), and number of GPUs.

    Jobs have whole GPUs, so a pod that requests only part of a GPU gets a whole GPU to itself. A pod that
    accepts one GPU type becomes a job for that type. A pod that accepts several types becomes a job for any
    type. Each pod that gets more of a GPU, or a wider choice of types, than it requested is reported as
    repaired. A row is dropped if a value is missing or breaks a rule, if its pod has been read before or
    requests no GPU, or if the pod was never scheduled and so has no duration.

    Parameters
    ----------
    path
        A list of pods with times, plain or gzipped, or the folder of the trace or of all traces.
    pods
        If `path` is a folder: name of the list, such as ``default``, ``cpu250``, ``gpushare40`` or
        ``gpuspec33``. The lists named ``multigpu`` have no times.
    whole_gpus
        Whether to drop the pods that request only part of a GPU.
    selection
        Window, GPU cap and sample; see `Selection`.

    Raises
    ------
    InvalidInput
        The file cannot be read or has a wrong header, or an option is out of range.

    Notes
    -----
    Q. Weng et al., Beware of fragmentation: Scheduling GPU-sharing workloads with fragmentation gradient
    descent, ATC 2023.

    Examples
    --------
    >>> openb("no/such/pods.csv")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/pods.csv: cannot be read: No such file or directory
    """
    file = find(path, FOLDER / f"openb_pod_list_{pods}.csv.gz")
    issues: list[Issue] = []
    columns = _POD_COLUMNS + _TIME_COLUMNS
    entries = read_table(file, columns, lambda row: _job(row, issues, whole_gpus=whole_gpus), issues)
    return select("openb", f"Alibaba openb pods, {file.name}", entries, issues, **selection)


def _node(row: TraceRow) -> OpenbNode:
    return OpenbNode(
        name=row.values["sn"],
        cpu_milli=row.whole_number("cpu_milli"),
        memory_mib=row.whole_number("memory_mib"),
        gpus=row.whole_number("gpu"),
        gpu_type=row.values.get("model", ""),
    )


def _pod(row: TraceRow) -> PodDemand:
    types = row.values.get("gpu_spec", "")
    return PodDemand(
        name=row.values["name"],
        cpu_milli=row.whole_number("cpu_milli"),
        memory_mib=row.whole_number("memory_mib"),
        gpus=row.whole_number("num_gpu"),
        gpu_milli=row.whole_number("gpu_milli"),
        gpu_types=tuple(dict.fromkeys(types.split("|"))) if types else (),
    )


def _job(row: TraceRow, issues: list[Issue], *, whole_gpus: bool) -> Job:
    pod = _pod(row)
    if not row.values.get("scheduled_time"):
        raise InvalidInput("scheduled_time", "", "must not be empty: the pod never ran")
    shared = pod.gpus > 0 and pod.gpu_milli < _WHOLE
    if shared and whole_gpus:
        raise InvalidInput("gpu_milli", str(pod.gpu_milli), f"must be {_WHOLE}, a whole GPU")
    job = Job(
        name=pod.name,
        release_date=row.number("creation_time"),
        duration=row.number("deletion_time") - row.number("scheduled_time"),
        gpus=pod.gpus,
        gpu_type=pod.gpu_types[0] if len(pod.gpu_types) == 1 else "",
    )
    if shared:
        issues.append(row.issue(f"gpu_milli: {pod.gpu_milli}: rounded up to a whole GPU", repaired=True))
    if len(pod.gpu_types) > 1:
        issues.append(row.issue(f"gpu_spec: {'|'.join(pod.gpu_types)}: any type will do", repaired=True))
    return job
