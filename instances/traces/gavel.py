"""Gavel: the traces of its simulator and its physical cluster, in steps of jobs whose speeds are measured."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Unpack

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.training import Training
from instances.traces.reading import Issue, Reading, TraceRow, content, find, usable
from instances.traces.selection import Selection, select
from instances.traces.throughputs import TYPES, Throughputs, read_throughputs

#: Place of the traces in the folder of public traces.
FOLDER = Path("gavel/traces")

#: Names of the table of speeds, of which the nearest beside or above a trace is read.
_TABLES = ("simulation_throughputs.json.gz", "simulation_throughputs.json")

#: The fields of a line, by how many there are.
_FIELDS = {
    10: (
        *("type", "command", "folder", "argument", "needs data", "steps", "gpus", "weight", "slo", "arrival"),
    ),
    7: ("type", "command", "argument", "needs data", "steps", "arrival", "gpus"),
}

_TYPE = re.compile(r"(?P<model>[^()]*?)(?: \(batch size (?P<size>[1-9][0-9]{0,9})\))?")


def gavel(
    path: str | Path,
    *,
    trace: str = "physical_cluster/artifact_evaluation",
    gpu_types: Sequence[str] = ("v100",),
    throughputs: str | Path | None = None,
    **selection: Unpack[Selection],
) -> Reading:
    """Read a trace of Gavel: arrival (s), type, steps and number of GPUs of every job.

    The length of a job is its steps over its measured speed on the first type of GPU, its workers close
    together. With several types it has that type in its default mode, and a mode for each other type on which
    it was measured, named after the type. Jobs are numbered from 0 in the order of the lines, as their
    simulator does. A training has as many samples as steps times batch size, and one epoch, as data sets are
    not described; where the type names no batch size, a step is one sample. Weights and deadlines are not
    read. A row is dropped when one of these values is missing or breaks a rule, or when its type was not
    measured on so many GPUs of the first type.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of Gavel's files or of all traces.
    trace
        Without a file: which trace, such as ``msr/seed=0/795a4c``.
    gpu_types
        Types of GPUs: ``v100``, ``p100``, ``k80``; job lengths are those on the first.
    throughputs
        The table of speeds; by default the nearest ``simulation_throughputs.json``, plain or gzipped, beside or
        above the file.
    selection
        Window, GPU cap and sample, see `Selection`.

    Raises
    ------
    InvalidInput
        A file cannot be read, no line has 7 or 10 fields, or an option is out of its range.

    Notes
    -----
    D. Narayanan et al., Heterogeneity-aware cluster scheduling policies for deep learning workloads, OSDI 2020.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(gavel(folder).workload.jobs) == 15
    True
    """
    known = bool(gpu_types) and set(gpu_types) <= TYPES and len(set(gpu_types)) == len(gpu_types)
    require(known, "gpu_types", gpu_types, f"must be different ones of {', '.join(sorted(TYPES))}")
    file = find(path, FOLDER / f"{trace}.trace.gz")
    lines = content(file).decode("utf-8-sig", errors="replace").rstrip("\r\n").split("\n")
    if not any(len(text.split("\t")) in _FIELDS for text in lines):
        raise InvalidInput(str(file), "", "", "must have lines of 7 or 10 values with tabs between them")
    table = read_throughputs(_table(file) if throughputs is None else Path(throughputs))
    issues: list[Issue] = []
    found = _rows(file.name, lines, issues)
    entries = list(usable(found, lambda row: _job(row, table, tuple(gpu_types)), issues))
    return select("gavel", f"Gavel trace, {file.name}, {' '.join(gpu_types)}", entries, issues, **selection)


def _table(file: Path) -> Path:
    """Return the nearest table of speeds beside or above a file."""
    for folder in file.absolute().parents:
        for name in _TABLES:
            if (folder / name).is_file():
                return folder / name
    raise InvalidInput(str(file), "throughputs", "", f"must be {_TABLES[1]} beside or above the file, or given")


def _rows(file: str, lines: list[str], issues: list[Issue]) -> Iterator[TraceRow]:
    for line, text in enumerate(lines, start=1):
        values = text.rstrip("\r").split("\t")
        if len(values) in _FIELDS:
            yield TraceRow(file, line, dict(zip(_FIELDS[len(values)], values, strict=True)))
        else:
            reason = f"must have 7 or 10 values, not {len(values)}"
            issues.append(Issue(file=file, row=line, reason=reason))


def _job(row: TraceRow, table: Throughputs, types: tuple[str, ...]) -> Job:
    gpus, steps, said = row.whole_number("gpus"), row.whole_number("steps"), row.values["type"]
    speeds = {kind: rate for kind, rate in table.get(f"('{said}', {gpus})", {}).items() if rate}
    require(steps > 0, "steps", steps, "must be at least 1")
    named = _TYPE.fullmatch(said)
    if named is None or types[0] not in speeds:
        rule = f"must be a type of job that was measured on {gpus} GPUs of {types[0]}"
        raise InvalidInput("", "type", shorten(said), rule)
    first, several = speeds[types[0]], len(types) > 1
    batch_size = int(named["size"] or 1)
    modes = [
        Mode(name=kind, menu=[(gpus, speeds[kind] / first)], gpu_type=kind)
        for kind in types[1:]
        if kind in speeds
    ]
    return Job(
        name=str(row.line - 1),
        release_date=row.number("arrival"),
        duration=steps / first,
        gpus=gpus,
        model=named["model"],
        batch_size=batch_size,
        gpu_type=types[0] if several else "",
        modes=modes,
        training=Training(epoch=steps * batch_size, samples=steps * batch_size),
    )
