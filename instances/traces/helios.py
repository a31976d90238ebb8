"""Helios: jobs of SenseTime's GPU clusters in 2020."""

from pathlib import Path
from typing import NamedTuple, Unpack

from gsopt.scenario.job import Job
from instances.traces.reading import Issue, Reading, TraceRow, content, find, only, read_table
from instances.traces.selection import Selection, select

#: Path of the file in the folder of public traces.
FILE = Path("helios_venus_slice/helios_venus_2vc_sept.csv")

_MICROSECONDS = 1_000_000


class _Layout(NamedTuple):
    """Names of the columns in one of the two forms in which the trace is published."""

    virtual_cluster: str
    gpus: str
    duration: str

    @property
    def columns(self) -> tuple[str, ...]:
        return "job_id", "submit_time", *self


_LOG = _Layout("vc", "gpu_num", "duration")
_SLICE = _Layout("tenant", "num_chips", "duration_s")


def helios(path: str | Path, *, virtual_cluster: str | None = None, **selection: Unpack[Selection]) -> Reading:
    """Read a Helios trace: submission time, duration (s), number of GPUs and virtual cluster of every job.

    Both forms of the trace are read: ``cluster_log.csv`` as published, with dates, and the September slice of
    cluster Venus, with ``tenant``, ``num_chips`` and microseconds since 1 September. Jobs that failed or were
    cancelled are kept, as they held their GPUs. A row is dropped if a value is missing or breaks a rule, for
    example if a job has no GPUs, or if its job has been read before.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the trace or of all traces.
    virtual_cluster
        Read only the jobs of this virtual cluster.
    selection
        Window, GPU cap and sample; see `Selection`.

    Raises
    ------
    InvalidInput
        The file cannot be read or is not a Helios trace, there is no such virtual cluster, or an option is out
        of range.

    Notes
    -----
    Q. Hu et al., Characterization and prediction of deep learning workloads in large-scale GPU datacenters,
    SC 2021.

    Examples
    --------
    >>> helios("no/such/cluster_log.csv")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/cluster_log.csv: cannot be read: No such file or directory
    """
    file = find(path, FILE)
    issues: list[Issue] = []
    layout = _LOG if b"gpu_num" in content(file).partition(b"\n")[0] else _SLICE
    entries = read_table(file, layout.columns, lambda row: _job(row, layout), issues)
    source = f"SenseTime Helios trace, {file.name}"
    if virtual_cluster is not None:
        entries = only(entries, layout.virtual_cluster, virtual_cluster, str(file), "virtual_cluster")
        source += f", virtual cluster {virtual_cluster}"
    return select("helios", source, entries, issues, **selection)


def _job(row: TraceRow, layout: _Layout) -> Job:
    dated = layout is _LOG
    return Job(
        name=row.values["job_id"],
        release_date=row.moment("submit_time") if dated else row.number("submit_time") / _MICROSECONDS,
        duration=row.number(layout.duration),
        gpus=row.whole_number(layout.gpus),
    )
