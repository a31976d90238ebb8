"""SWF: logs in the Standard Workload Format of the Parallel Workloads Archive."""

import re
from pathlib import Path
from typing import Unpack

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job
from instances.traces.reading import Issue, Reading, TraceRow, find, separated, text_lines, usable
from instances.traces.selection import Selection, select

#: Path of the file in the folder of public traces.
FILE = Path("swf_nasa_ipsc/NASA-iPSC-1993-3.1-cln.swf.gz")

_FIELDS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "used CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "application",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
_UNKNOWN = -1
_LARGEST_MACHINE = re.compile(r";\s*MaxProcs:\s*([0-9]{1,9})\s*")


def swf(path: str | Path, **selection: Unpack[Selection]) -> Reading:
    """Read a log in Standard Workload Format: submission time (s), run time (s) and processors of every job.

    The requested time, if positive, becomes the job's estimate. A processor counts as one GPU. If the number of
    allocated processors is unknown, the requested number is used, which is reported as a repair. A row is
    dropped if it does not have 18 values, if a required value is missing or breaks a rule (such as a run time
    of 0, or more processors than ``MaxProcs`` in the header), or if its job has been read before.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the trace or of all traces.
    selection
        Window, GPU cap and sample; see `Selection`.

    Raises
    ------
    InvalidInput
        The file cannot be read, no line has 18 values, or an option is out of range.

    Notes
    -----
    S. J. Chapin et al., Benchmarks and standards for the evaluation of parallel job schedulers, JSSPP 1999.

    Examples
    --------
    >>> swf("no/such/log.swf")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/log.swf: cannot be read: No such file or directory
    """
    file = find(path, FILE)
    lines = text_lines(file)
    jobs = ((line, text) for line, text in enumerate(lines, start=1) if not text.startswith(";"))
    processors = _processors(lines)
    issues: list[Issue] = []
    table = separated(file, jobs, [_FIELDS], issues)
    entries = list(usable(table, lambda row: _job(row, processors, issues), issues))
    return select("swf", f"Standard Workload Format, {file.name}", entries, issues, **selection)


def _processors(lines: list[str]) -> int | None:
    """Return the number of processors of the machine, if the header states it."""
    found = (_LARGEST_MACHINE.fullmatch(text.rstrip("\r")) for text in lines if text.startswith(";"))
    return next((int(match[1]) for match in found if match), None)


def _job(row: TraceRow, processors: int | None, issues: list[Issue]) -> Job:
    allocated = row.whole_number("allocated processors")
    gpus = row.whole_number("requested processors") if allocated == _UNKNOWN else allocated
    if processors is not None and gpus > processors:
        raise InvalidInput("processors", str(gpus), f"must be at most MaxProcs, {processors}")
    job = Job(
        name=row.values["job number"],
        release_date=row.number("submit time"),
        duration=row.number("run time"),
        gpus=gpus,
        estimate=requested if (requested := row.number("requested time")) > 0 else None,
    )
    if allocated == _UNKNOWN:
        reason = f"allocated processors: unknown: the requested {gpus} are used"
        issues.append(row.issue(reason, repaired=True))
    return job
