"""ITP: jobs of ten Microsoft clusters in spring 2021, published with ElasticFlow."""

import re
import tarfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

from gsopt.errors import InvalidInput
from gsopt.job import Job, Workload
from instances.traces.reading import Issue, Reading, Row, content, rows, usable

#: Place of the file in the folder of public traces.
FILE = Path("elasticflow_itp/data/raw-traces.tar.gz")

_COLUMNS = ("job_id", "submission_time", "duration", "num_gpu")
_MEMBER = re.compile(r"(?:.*/)?cluster([0-9]{1,4})\.csv")


def read(path: str | Path, *, clusters: Iterable[int] | None = None) -> Workload:
    """Read the trace; rows that cannot be used are left out, and `scan` tells which.

    See `scan` for parameters and errors.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(read(folder / FILE, clusters=[10]).jobs) == 260
    True
    """
    return scan(path, clusters=clusters).workload


def scan(path: str | Path, *, clusters: Iterable[int] | None = None) -> Reading:
    """Read the trace together with a report of the rows that were left out.

    A row is left out when a value is missing or breaks a rule, or when its job was read before. Second 0 of the
    workload is that of the trace. The trace holds no job shorter than 600 s.

    Parameters
    ----------
    path
        The archive with files ``cluster01.csv``, ``cluster02.csv``, ...
    clusters
        Numbers of the clusters whose jobs are read as one workload; all when None.

    Raises
    ------
    InvalidInput
        The archive cannot be read or is no ITP trace, or there is no such cluster.

    Examples
    --------
    >>> scan("no/such/raw-traces.tar.gz")
    Traceback (most recent call last):
    gsopt.errors.InvalidInput: no/such/raw-traces.tar.gz: cannot be read: No such file or directory
    """
    tables = _tables(path)
    chosen = sorted(tables) if clusters is None else sorted(set(clusters))
    for cluster in chosen:
        if cluster not in tables:
            rule = f"must be one of {', '.join(map(str, sorted(tables)))}"
            raise InvalidInput(str(path), "clusters", str(cluster), rule)
    issues: list[Issue] = []
    jobs: dict[str, Job] = {}
    for cluster in chosen:
        file, data = tables[cluster]
        for row, job in usable(rows(file, data, _COLUMNS, issues), _job, issues):
            if jobs.setdefault(job.name, job) is not job:
                issues.append(Issue(file=file, row=row.line, reason=f"job_id: {job.name!r}: was read before"))
    which = "" if clusters is None else f", clusters {', '.join(map(str, chosen))}"
    workload = Workload(
        name="itp",
        source=f"Microsoft ITP trace, {Path(path).name}{which}",
        jobs=tuple(jobs.values()),
    )
    return Reading(workload=workload, issues=tuple(sorted(issues, key=lambda issue: (issue.file, issue.row))))


def _tables(path: str | Path) -> dict[int, tuple[str, bytes]]:
    """Give the archive's tables by the number of their cluster: name and content of each."""
    data = content(path)
    try:
        with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
            tables = dict(_members(archive, len(data)))
    except tarfile.TarError:
        raise InvalidInput(str(path), "", "", "must be a complete tar archive") from None
    if not tables:
        raise InvalidInput(str(path), "", "", "must hold files cluster01.csv, cluster02.csv, ...")
    return tables


def _members(archive: tarfile.TarFile, largest: int) -> Iterator[tuple[int, tuple[str, bytes]]]:
    for member in archive:
        found = _MEMBER.fullmatch(member.name)
        if found and member.size > largest:
            raise tarfile.ReadError("a file larger than its archive")
        file = archive.extractfile(member) if found and member.isreg() else None
        if found and file:
            yield int(found[1]), (Path(member.name).name, file.read())


def _job(row: Row) -> Job:
    return Job(
        name=row.values["job_id"],
        release_date=row.number("submission_time"),
        duration=row.number("duration"),
        gpus=row.whole_number("num_gpu"),
    )
