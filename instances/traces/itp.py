"""ITP: jobs on ten Microsoft clusters in spring 2021, published with ElasticFlow."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Unpack

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job
from instances.traces.reading import Issue, Reading, TraceRow, find, members, rows, usable
from instances.traces.selection import Selection, select

#: Path of the file in the folder of public traces.
FILE = Path("elasticflow_itp/data/raw-traces.tar.gz")

_COLUMNS = ("job_id", "submission_time", "duration", "num_gpu")
_MEMBER = re.compile(r"(?:.*/)?cluster([0-9]{1,4})\.csv")


def itp(path: str | Path, *, clusters: Iterable[int] | None = None, **selection: Unpack[Selection]) -> Reading:
    """Read the ITP trace of spring 2021: submission time (s), duration (s) and number of GPUs of every job.

    The archive is either the raw trace or the version published with ElasticFlow, which adds a random model and
    batch size to every job. The trace contains no job shorter than 600 s. A row is dropped if a value is
    missing or breaks a rule, or if its job has been read before.

    Parameters
    ----------
    path
        The archive with files ``cluster01.csv``, ``cluster02.csv``, ..., or the folder of the trace or of all
        traces.
    clusters
        Indices of the clusters whose jobs are read as one workload; None for all.
    selection
        Window, GPU cap and sample; see `Selection`.

    Raises
    ------
    InvalidInput
        The archive cannot be read or is not an ITP trace, there is no such cluster, or an option is out of
        range.

    Notes
    -----
    D. Gu et al., ElasticFlow: An elastic serverless training platform for distributed deep learning, ASPLOS
    2023.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(itp(folder, clusters=[10]).workload.jobs) == 260
    True
    """
    file = find(path, FILE)
    tables = _tables(file)
    chosen = sorted(tables) if clusters is None else sorted(set(clusters))
    for cluster in chosen:
        if cluster not in tables:
            rule = f"must be one of {', '.join(map(str, sorted(tables)))}"
            raise InvalidInput("clusters", str(cluster), rule, source=str(file))
    issues: list[Issue] = []
    entries = [
        entry
        for cluster in chosen
        for entry in usable(rows(*tables[cluster], _COLUMNS, issues, further=True), _job, issues)
    ]
    which = "" if clusters is None else f", clusters {', '.join(map(str, chosen))}"
    return select("itp", f"Microsoft ITP trace, {file.name}{which}", entries, issues, **selection)


def _tables(path: str | Path) -> dict[int, tuple[str, bytes]]:
    """Return the name and content of each table in the archive, by the index of its cluster."""
    tables = {int(name[1]): (Path(name.string).name, data) for name, data in members(path, _MEMBER)}
    if not tables:
        raise InvalidInput("", "", "must hold files cluster01.csv, cluster02.csv, ...", source=str(path))
    return tables


def _job(row: TraceRow) -> Job:
    return Job(
        name=row.values["job_id"],
        release_date=row.number("submission_time"),
        duration=row.number("duration"),
        gpus=row.whole_number("num_gpu"),
        model=row.values.get("model_name", ""),
        batch_size=row.whole_number("batch_size") if "batch_size" in row.values else None,
    )
