"""RFold: tables of the jobs of Philly and Lingjun, in the format of the simulator RFold."""

from collections.abc import Iterator

from gsopt.scenario.job import Job
from instances.traces.reading import Issue, TraceRow, rows

#: The columns, whose first one begins like a comment in the file.
_COLUMNS = ("job id", "arrival time (sec)", "topology", "shape", "size", "duration (sec)")


def is_rfold(data: bytes) -> bool:
    """Check whether the content of a file is a table in RFold's format."""
    return data.startswith(b"#job id,")


def rfold_rows(file: str, data: bytes, issues: list[Issue]) -> Iterator[TraceRow]:
    """Yield the usable rows of a file, and report the others, as in `rows`."""
    return rows(file, data.removeprefix(b"#"), _COLUMNS, issues)


def rfold_job(row: TraceRow, trace: str) -> Job:
    """Return the job in a row, named after the trace and the job's number in the file."""
    return Job(
        name=f"{trace}-{row.values['job id']}",
        release_date=row.number("arrival time (sec)"),
        duration=row.number("duration (sec)"),
        gpus=row.whole_number("size"),
    )
