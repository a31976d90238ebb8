"""Sia: the workloads of its simulator, with jobs of six models that were profiled on up to dozens of GPUs."""

from pathlib import Path
from typing import Unpack

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.scenario.job import Job
from instances.traces.profile import MeasuredProfile, read_profile
from instances.traces.reading import Issue, Reading, TraceRow, content, find, read_table
from instances.traces.selection import Selection, select

#: Path of workloads and profiles in the folder of public traces.
FOLDER = Path("sia")

_COLUMNS = ("name", "time", "application", "num_replicas", "batch_size")

#: GPUs per node in the clusters where the profiles were measured.
_GPUS_PER_NODE = {"aws": 4, "azure": 8, "dgx": 8, "dgx-ext": 8, "quad": 4, "rtx": 8}

#: Largest number of GPUs on a node, because a placement has one digit per node.
_MOST_ON_A_NODE = 9

#: A model split into pipeline stages, whose times are those of one stage and cannot be read like the others.
_PIPELINED = "gpt_pmp"


def sia(
    path: str | Path,
    *,
    trace: str = "newtrace",
    number: int = 1,
    gpu: str = "rtx",
    gpus_per_node: int | None = None,
    profiles: str | Path | None = None,
    **selection: Unpack[Selection],
) -> Reading:
    """Read a workload of Sia: submission time (s), model, demanded GPUs and batch size of every job.

    A job's duration follows from the profile of its model: the number of iterations of a whole training run at
    the job's batch size, times the duration of an iteration on the demanded GPUs. The job's menu has every
    number of GPUs whose speed at this batch size is known from the profile; see `MeasuredProfile`. The factors
    by which Sia's simulator slows jobs down to match real runs are not applied. A row is dropped if a value is
    missing or breaks a rule, if its job has been read before, or if the profile has no time for its model, GPUs
    and batch size. Rows of profiles are dropped for similar reasons.

    Parameters
    ----------
    path
        A workload file, plain or gzipped, or the folder of Sia's workloads and profiles or of all traces.
    trace
        If `path` is a folder: the trace from which the workload was sampled, ``newtrace``, ``philly``,
        ``saturn`` or ``scale/rate_10`` to ``scale/rate_50``.
    number
        If `path` is a folder: number of the workload, from 1.
    gpu
        GPU type: ``rtx`` (RTX 2080 Ti), ``quad`` (Quadro RTX 6000), ``aws`` (T4), ``azure`` (V100), ``dgx``
        (A100), or ``dgx-ext``, which allows larger batches.
    gpus_per_node
        Number of GPUs per node. By default, it is that of the cluster where the profiles were measured, and
        speeds are known only for the placements measured there. If a number is given, measurements that state
        only the numbers of nodes and GPUs fill the gaps.
    profiles
        Folder of the profiles. By default, the nearest folder ``profiles`` next to the file or above.
    selection
        Window, GPU cap and sample; see `Selection`.

    Raises
    ------
    InvalidInput
        A file cannot be read or has a wrong header, there are no profiles, or an option is out of range.

    Notes
    -----
    S. Jayaram Subramanya et al., Sia: Heterogeneity-aware, goodput-optimized ML-cluster scheduling, SOSP 2023.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(sia(folder, trace="philly", number=8).workload.jobs) == 160
    True
    """
    require(gpu in _GPUS_PER_NODE, "gpu", gpu, f"must be one of {', '.join(_GPUS_PER_NODE)}")
    fine = gpus_per_node is None or 1 <= gpus_per_node <= _MOST_ON_A_NODE
    require(fine, "gpus_per_node", gpus_per_node, f"must be between 1 and {_MOST_ON_A_NODE}")
    file = find(path, FOLDER / "workloads" / trace / f"workload-{number}.csv")
    content(file)  # a workload that cannot be read is reported before its profiles are
    issues: list[Issue] = []
    known = _profiles(_home(file) if profiles is None else Path(profiles), gpu, gpus_per_node, issues)
    entries = read_table(file, _COLUMNS, lambda row: _job(row, known), issues)
    nodes = f" on nodes of {gpus_per_node} GPUs" if gpus_per_node else ""
    source = f"Sia workload, {file.parent.name}/{file.name}, profiles of {gpu}{nodes}"
    return select("sia", source, entries, issues, **selection)


def _home(file: Path) -> Path:
    """Return the nearest folder of profiles next to a file or above."""
    for folder in file.absolute().parents:
        if (folder / "profiles").is_dir():
            return folder / "profiles"
    raise InvalidInput(
        "profiles", "", "must be a folder beside or above the file, or be given", source=str(file)
    )


def _profiles(
    home: Path, gpu: str, gpus_per_node: int | None, issues: list[Issue]
) -> dict[str, MeasuredProfile]:
    """Read the profile of every model that was measured on a GPU type."""
    files = sorted(home.glob(f"*/placements-{gpu}.csv"))
    models = [file.parent for file in files if file.parent.name != _PIPELINED]
    if not models:
        raise InvalidInput("profiles", "", f"must hold <model>/placements-{gpu}.csv", source=str(home))
    size = gpus_per_node or _GPUS_PER_NODE[gpu]
    by_nodes = gpus_per_node is not None
    return {folder.name: read_profile(folder, gpu, size, issues, by_nodes=by_nodes) for folder in models}


def _job(row: TraceRow, profiles: dict[str, MeasuredProfile]) -> Job:
    model, gpus = row.values["application"], row.whole_number("num_replicas")
    batch_size = row.whole_number("batch_size")
    if model not in profiles:
        raise InvalidInput("application", shorten(model), f"must be one of {', '.join(profiles)}")
    duration = profiles[model].duration(gpus, batch_size)
    if duration is None:
        rule = f"must be a number of GPUs on which {model} was measured with batch size {shorten(batch_size)}"
        raise InvalidInput("num_replicas", shorten(gpus), rule)
    return Job(
        name=row.values["name"],
        release_date=row.number("time"),
        duration=duration,
        gpus=gpus,
        menu=profiles[model].menu(gpus, batch_size),
        model=model,
        batch_size=batch_size,
    )
