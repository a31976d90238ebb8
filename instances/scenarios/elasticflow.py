"""ElasticFlow: published jobs with deadlines and measured scaling, on nodes of eight GPUs."""

from collections.abc import Mapping
from math import log2
from pathlib import Path

from gsopt.core.errors import InvalidInput, require, require_one_of, shorten
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import tabulated_menu
from instances.allocation.profiles import curves
from instances.arguments import at_least, required
from instances.traces.reading import TraceRow, find, read_whole_table

#: GPU type of the profiles for each published workload, by name.
PROFILES: Mapping[str, str] = {"philly_103959": "A100", "elasticVpollux_e": "T4", "resnet_cifar_trace": "A100"}

#: Paths in the folder of public traces.
_WORKLOADS = Path("elasticflow_profiles/traces_for_ElasticFlow")
_THROUGHPUTS = Path("elasticflow_profiles/scheduler")

_COLUMNS = ("job_id", "submit_time", "iteration", "model_name", "ddl", "batch_size", "num_gpu")

#: Cluster size in GPUs from which restarts take longer, and the number of GPUs assumed for all restarts.
_LARGE, _TYPICAL = 256, 8

#: Assumptions where the paper is silent or differs, for printing with results.
ASSUMPTIONS = (
    f"A restart takes as long as one on {_TYPICAL} GPUs by the authors' rule, whatever its number of GPUs.",
    "Jobs last as long as their iterations take on the GPUs that they demand, by the profiles.",
    "Deadlines are the published ones, drawn by the authors.",
)


def elasticflow(
    path: str | Path | None = None,
    *,
    trace: str = "elasticVpollux_e",
    nodes: int = 16,
    gpus_per_node: int = 8,
    jobs: int | None = None,
) -> Scenario:
    """Create a scenario of ElasticFlow: jobs with deadlines, which run on the profiled numbers of GPUs.

    `ASSUMPTIONS` lists what is unknown or differs from the published data.

    Parameters
    ----------
    path
        The folder of all public traces, which is required.
    trace
        Name of a workload, one of `PROFILES`.
    nodes, gpus_per_node
        Number of nodes, and number of GPUs per node. The paper has 16 nodes with 8 GPUs each.
    jobs
        Number of jobs to read, starting with the first row; None for all.

    Raises
    ------
    InvalidInput
        A file cannot be read or has an invalid row, or an argument is out of range.

    Notes
    -----
    D. Gu et al., ElasticFlow: An elastic serverless training platform for distributed deep learning, ASPLOS
    2023, section 6, and the workloads and profiles that its authors published.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(elasticflow(folder, jobs=12).workload.jobs) == 12
    True
    """
    path = required(path)
    require_one_of("trace", trace, PROFILES)
    at_least(1, nodes=nodes, gpus_per_node=gpus_per_node)
    require(jobs is None or jobs >= 1, "jobs", jobs, "must be at least 1")
    throughputs = curves(Path(path) / _THROUGHPUTS / f"throughputs_{PROFILES[trace]}")
    most = nodes * gpus_per_node
    file = find(path, _WORKLOADS / f"{trace}.csv")
    table = read_whole_table(file, _COLUMNS, lambda row: _job(row, throughputs, most), file.name)
    read = [job for _, job in table]
    seconds = restart_seconds(_TYPICAL, most)
    return Scenario.of(
        Workload(name="elasticflow", source=f"{trace}, {PROFILES[trace]} profiles", jobs=_shifted(read[:jobs])),
        Cluster.uniform(machines=nodes, gpus=gpus_per_node),
        overheads=Overhead(start=seconds, resize=seconds),
    )


def restart_seconds(gpus: int, all_gpus: int) -> float:
    """Return the duration of a restart in seconds, which grows by 2 s with each doubling of a job's GPUs.

    On one GPU it takes 4 s, or 9 s if the cluster has 256 GPUs or more.

    Source: the authors' simulator.
    """
    return (7.0 if all_gpus >= _LARGE else 2.0) + 2 * (log2(gpus) + 1)


def _job(row: TraceRow, throughputs: Mapping[str, Mapping[int, float]], most: int) -> Job:
    name, gpus = f"{row.values['model_name']}-{row.values['batch_size']}", row.whole_number("num_gpu")
    curve = {count: speed for count, speed in throughputs.get(name, {}).items() if count <= most}
    if gpus not in curve:
        raise InvalidInput("num_gpu", shorten(gpus), f"must have been profiled for {name}")
    return Job(
        name=row.values["job_id"],
        release_date=row.number("submit_time"),
        duration=row.number("iteration") / curve[gpus],
        gpus=gpus,
        menu=tabulated_menu(gpus, curve),
        model=row.values["model_name"],
        batch_size=row.whole_number("batch_size"),
        deadline=row.number("ddl"),
    )


def _shifted(read: list[Job]) -> list[Job]:
    """Shift release dates and deadlines so that the first job is submitted at time 0."""
    begin = min((job.release_date for job in read), default=0.0)
    return [
        job.model_copy(
            update={"release_date": job.release_date - begin, "deadline": (job.deadline or begin) - begin}
        )
        for job in read
    ]
