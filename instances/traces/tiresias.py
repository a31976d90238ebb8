"""Tiresias: the job lists of its simulator, in a format that Chronus and Muri adopted."""

from pathlib import Path
from typing import Unpack

from gsopt.scenario.job import Job
from instances.traces.reading import Issue, Reading, TraceRow, find, read_table
from instances.traces.selection import Selection, select

#: Path of the file in the folder of public traces.
FILE = Path("tiresias/60_job.csv")

_COLUMNS = ("job_id", "num_gpu", "submit_time", "model_name", "duration")


def tiresias(path: str | Path, *, milliseconds: bool = False, **selection: Unpack[Selection]) -> Reading:
    """Read a job list of Tiresias: submission time (s), duration (s), number of GPUs and model of every job.

    The column ``batch_size`` is used if there is one, and other columns are ignored. A row is dropped if a
    value is missing or breaks a rule, such as 0 GPUs in lists of Chronus, or if its job has been read before.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the trace or of all traces.
    milliseconds
        Whether times are in milliseconds, as in Muri's lists.
    selection
        Window, GPU cap and sample; see `Selection`.

    Raises
    ------
    InvalidInput
        The file cannot be read or has a wrong header, or an option is out of range.

    Examples
    --------
    >>> tiresias("no/such/60_job.csv")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/60_job.csv: cannot be read: No such file or directory
    """
    file = find(path, FILE)
    second = 1000 if milliseconds else 1
    issues: list[Issue] = []
    entries = read_table(file, _COLUMNS, lambda row: _job(row, second), issues)
    return select("tiresias", f"Tiresias job list, {file.name}", entries, issues, **selection)


def _job(row: TraceRow, second: int) -> Job:
    return Job(
        name=row.values["job_id"],
        release_date=row.number("submit_time") / second,
        duration=row.number("duration") / second,
        gpus=row.whole_number("num_gpu"),
        model=row.values["model_name"],
        batch_size=row.whole_number("batch_size") if row.values.get("batch_size") else None,
    )
