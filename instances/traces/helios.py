"""Helios: jobs of SenseTime's GPU clusters in 2020."""

from pathlib import Path
from typing import NamedTuple, Unpack

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.job import Job
from instances.traces.reading import Issue, Reading, TraceRow, content, find, only, read_table
from instances.traces.selection import Selection, select

#: Path of the file in the folder of public traces.
FILE = Path("helios_venus_slice/helios_venus_2vc_sept.csv")

_MICROSECONDS = 1_000_000


class _Layout(NamedTuple):
    """Names of the columns in one of the published forms of the trace."""

    submission: str
    gpus: str
    duration: str
    virtual_cluster: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(filter(None, ("job_id", *self)))


_LOG = _Layout("submit_time", "gpu_num", "duration", "vc")
_SLICE = _Layout("submit_time", "num_chips", "duration_s", "tenant")
_WHOLE = _Layout("arrival_s", "gpu_count", "service_sec")


def helios(path: str | Path, *, virtual_cluster: str | None = None, **selection: Unpack[Selection]) -> Reading:
    """Read a Helios trace: submission time, duration (s) and number of GPUs of every job.

    Three forms of the trace can be read: ``cluster_log.csv`` as published, with dates; the September slice of
    cluster Venus, with ``tenant``, ``num_chips`` and microseconds since 1 September; and all of Venus, with
    ``arrival_s``, ``service_sec`` and ``gpu_count``, whose durations are cut off at 48 hours. Jobs that failed
    or were cancelled are kept, because they occupied their GPUs. A row is dropped if a value is missing or
    breaks a rule, for example if a job has no GPUs, or if its job has been read before.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the trace or of all traces.
    virtual_cluster
        Read only the jobs of this virtual cluster. The form with all of Venus has no virtual clusters.
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
    header = content(file).partition(b"\n")[0]
    layout = _LOG if b"gpu_num" in header else _WHOLE if b"arrival_s" in header else _SLICE
    entries = read_table(file, layout.columns, lambda row: _job(row, layout), issues)
    source = f"SenseTime Helios trace, {file.name}"
    if virtual_cluster is not None:
        if layout.virtual_cluster is None:
            rule = "must be None, as the file names no virtual clusters"
            raise InvalidInput("virtual_cluster", shorten(virtual_cluster), rule, source=str(file))
        entries = only(entries, layout.virtual_cluster, virtual_cluster, str(file), "virtual_cluster")
        source += f", virtual cluster {virtual_cluster}"
    return select("helios", source, entries, issues, **selection)


def _job(row: TraceRow, layout: _Layout) -> Job:
    submission = row.moment if layout is _LOG else row.number
    return Job(
        name=row.values["job_id"],
        release_date=submission(layout.submission) / (_MICROSECONDS if layout is _SLICE else 1),
        duration=row.number(layout.duration),
        gpus=row.whole_number(layout.gpus),
    )
