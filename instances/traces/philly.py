"""Philly: jobs of Microsoft's GPU clusters in 2017, in the reduced form used by Pollux and Sia."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from gsopt.errors import InvalidInput, shorten
from gsopt.job import Job, Workload
from instances.arguments import require
from instances.traces.reading import Issue, Reading, Row, content, rows, usable

#: Place of the file in the folder of public traces.
FILE = Path("philly/sia/philly.csv.gz")

_COLUMNS = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")

Window = tuple[datetime, datetime]


def read(path: str | Path, *, window: Window | None = None, virtual_cluster: str | None = None) -> Workload:
    """Read the trace; rows that cannot be used are left out, and `scan` tells which.

    See `scan` for parameters and errors.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(read(folder / FILE).jobs) == 82_182
    True
    """
    return scan(path, window=window, virtual_cluster=virtual_cluster).workload


def scan(path: str | Path, *, window: Window | None = None, virtual_cluster: str | None = None) -> Reading:
    """Read the trace together with a report of the rows that were left out.

    A row is left out when a value is missing or breaks a rule, or when it repeats an earlier row in full. The
    rest of a row is looked at only when it lies in the window and in the virtual cluster. The column
    ``gpu_time`` is the product of two others and is not used. Jobs are named after their row.

    Parameters
    ----------
    path
        The file, as it is or gzipped.
    window
        Beginning and end, in the trace's own clock, of the time in which the jobs are submitted; the end is
        excluded. The beginning is second 0 of the workload. Without a window the whole trace is read, and its
        earliest job is submitted at second 0.
    virtual_cluster
        Read only the jobs of this virtual cluster.

    Raises
    ------
    InvalidInput
        The file cannot be read or is no Philly trace, the window is empty, or there is no such virtual cluster.

    Examples
    --------
    >>> scan("no/such/philly.csv.gz")
    Traceback (most recent call last):
    gsopt.errors.InvalidInput: no/such/philly.csv.gz: cannot be read: No such file or directory
    """
    if window is not None:
        _check(window)
    file = Path(path).name
    issues: list[Issue] = []
    table = _first_of_each(rows(file, content(path), _COLUMNS, issues), issues)
    submitted = list(usable(table, _submission, issues))
    if virtual_cluster is not None:
        submitted = _of_cluster(submitted, str(path), virtual_cluster)
    release = _release_dates(submitted, window)
    within = (row for row, _ in submitted if row.line in release)
    jobs = tuple(job for _, job in usable(within, lambda row: _job(row, release), issues))
    workload = Workload(name="philly", source=_source(file, window, virtual_cluster), jobs=jobs)
    return Reading(workload=workload, issues=tuple(sorted(issues, key=lambda issue: issue.row)))


def _check(window: Window) -> None:
    begin, end = window
    naive = begin.tzinfo is None and end.tzinfo is None
    require(naive, "window", f"{begin} to {end}", "must have no time zone, as the trace has none")
    require(begin < end, "window", f"{begin} to {end}", "must begin before it ends")


def _first_of_each(table: Iterable[Row], issues: list[Issue]) -> Iterator[Row]:
    """Pass on the rows that repeat no earlier one."""
    first: dict[tuple[str, ...], int] = {}
    for row in table:
        earlier = first.setdefault(tuple(row.values.values()), row.line)
        if earlier == row.line:
            yield row
        else:
            issues.append(Issue(file=row.file, row=row.line, reason=f"repeats row {earlier}"))


def _submission(row: Row) -> datetime:
    text = row.values["timestamp"]
    try:
        if _TIMESTAMP.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:  # a month 13, a 30th of February
        pass
    raise InvalidInput("", "timestamp", shorten(text), "must be a date and time such as 2017-10-09 07:01:55")


def _of_cluster(
    submitted: list[tuple[Row, datetime]], path: str, virtual_cluster: str
) -> list[tuple[Row, datetime]]:
    known = sorted({row.values["cluster"] for row, _ in submitted})
    if virtual_cluster not in known:
        rule = f"must be one of {', '.join(known)}"
        raise InvalidInput(path, "virtual_cluster", shorten(virtual_cluster), rule)
    return [(row, when) for row, when in submitted if row.values["cluster"] == virtual_cluster]


def _release_dates(submitted: list[tuple[Row, datetime]], window: Window | None) -> dict[int, float]:
    """Give the release date of every row in the window, by its line."""
    if not submitted:
        return {}
    times = [when for _, when in submitted]
    begin, end = window or (min(times), max(times) + timedelta.resolution)
    return {row.line: (when - begin).total_seconds() for row, when in submitted if begin <= when < end}


def _job(row: Row, release: dict[int, float]) -> Job:
    return Job(
        name=f"philly-{row.line}",
        release_date=release[row.line],
        duration=row.number("duration"),
        gpus=row.whole_number("num_gpus"),
    )


def _source(file: str, window: Window | None, virtual_cluster: str | None) -> str:
    parts = [f"Microsoft Philly trace, {file}"]
    if window is not None:
        parts.append(f"{window[0]} to {window[1]}")
    if virtual_cluster is not None:
        parts.append(f"virtual cluster {virtual_cluster}")
    return ", ".join(parts)
