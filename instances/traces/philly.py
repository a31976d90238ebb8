"""Philly: jobs on Microsoft's GPU clusters in 2017, in two reduced forms of the trace."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Unpack

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.scenario.job import Job
from instances.traces.reading import Issue, Reading, TraceRow, content, find, only, rows, usable
from instances.traces.rfold import is_rfold, rfold_job, rfold_rows
from instances.traces.selection import Selection, select

#: Path of the file in the folder of public traces.
FILE = Path("philly/sia/philly.csv.gz")

_COLUMNS = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")


def philly(
    path: str | Path,
    *,
    virtual_cluster: str | None = None,
    dates: tuple[datetime, datetime] | None = None,
    **selection: Unpack[Selection],
) -> Reading:
    """Read the Philly trace of 2017: submission time, duration (s) and number of GPUs of every job.

    Two forms of the trace can be read. Sia's form has 82,247 rows, and jobs are named after their rows; the
    trace is sparse before October 2017. RFold's form has 111,549 rows, in which the failed attempts of a job
    are merged. Each of these rows has a job number, but no date or virtual cluster.

    A row is dropped if a value is missing or breaks a rule, or if it repeats an earlier row completely. In
    RFold's form, it is also dropped if a job with the same number has been read before.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the trace or of all traces.
    virtual_cluster
        Read only the jobs of this virtual cluster. This is only for files in Sia's form.
    dates
        Read only the jobs submitted on or after the first date and before the second, on the trace's clock.
        This is only for files in Sia's form.
    selection
        Window, GPU cap and sample; see `Selection`.

    Raises
    ------
    InvalidInput
        The file cannot be read or is not a Philly trace, there is no such virtual cluster, or an option is out
        of range.

    Notes
    -----
    M. Jeon et al., Analysis of large-scale multi-tenant GPU clusters for DNN training workloads, ATC 2019.

    Examples
    --------
    >>> philly("no/such/philly.csv")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/philly.csv: cannot be read: No such file or directory
    """
    begin, end = (0.0, float("inf")) if dates is None else _seconds(dates)
    file = find(path, FILE)
    issues: list[Issue] = []
    source, data = f"Microsoft Philly trace, {file.name}", content(file)
    if is_rfold(data):
        for option, value in (("virtual_cluster", virtual_cluster), ("dates", dates)):
            if value is not None:
                rule = "must be None, as the file has none"
                raise InvalidInput(option, shorten(value), rule, source=str(file))
        table = _first_of_each(rfold_rows(file.name, data, issues), issues)
        entries = list(usable(table, partial(rfold_job, trace="philly"), issues))
        return select("philly", source, entries, issues, **selection)
    table = _first_of_each(rows(file.name, data, _COLUMNS, issues), issues)
    entries = list(usable(table, _job, issues))
    if virtual_cluster is not None:
        entries = only(entries, "cluster", virtual_cluster, str(file), "virtual_cluster")
        source += f", virtual cluster {virtual_cluster}"
    if dates is not None:
        entries = [entry for entry in entries if begin <= entry[1].release_date < end]
        source += f", {dates[0]} to {dates[1]}"
    return select("philly", source, entries, issues, **selection)


def _seconds(dates: tuple[datetime, datetime]) -> tuple[float, float]:
    begin, end = dates
    naive = begin.tzinfo is None and end.tzinfo is None
    require(naive, "dates", f"{begin} to {end}", "must have no time zone, as the trace has none")
    require(begin < end, "dates", f"{begin} to {end}", "must begin before they end")
    return begin.replace(tzinfo=UTC).timestamp(), end.replace(tzinfo=UTC).timestamp()


def _first_of_each(table: Iterable[TraceRow], issues: list[Issue]) -> Iterator[TraceRow]:
    """Yield the rows that do not repeat an earlier row, and report the others."""
    first: dict[tuple[str, ...], int] = {}
    for row in table:
        earlier = first.setdefault(tuple(row.values.values()), row.line)
        if earlier == row.line:
            yield row
        else:
            issues.append(row.issue(f"repeats row {earlier}"))


def _job(row: TraceRow) -> Job:
    return Job(
        name=f"philly-{row.line}",
        release_date=row.moment("timestamp"),
        duration=row.number("duration"),
        gpus=row.whole_number("num_gpus"),
    )
