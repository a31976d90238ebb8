"""Gavel: the traces of its simulator and physical cluster, with jobs whose speed was measured."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.training import Training
from instances.traces.reading import TAB, Issue, Reading, TraceRow, find, separated, text_lines, usable
from instances.traces.selection import Selection, select
from instances.traces.throughputs import TYPES, Throughputs, read_throughputs

#: Path of the traces in the folder of public traces.
FOLDER = Path("gavel/traces")

#: Possible file names of the table of speeds. The nearest table in the folder of a trace or above is read.
_TABLES = ("simulation_throughputs.json.gz", "simulation_throughputs.json")

#: The fields of a line in the newer and the older format.
_FIELDS = (
    ("type", "command", "folder", "argument", "needs data", "steps", "gpus", "weight", "slo", "arrival"),
    ("type", "command", "argument", "needs data", "steps", "arrival", "gpus"),
)

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

    The duration of a job is the time for its steps at its measured speed, with consolidated workers. Jobs are
    numbered from 0 in the order of the lines. A training run has a single epoch. Its number of samples is the
    number of steps times the batch size (1 if the job type has none). Weights and deadlines are not read. A row
    is dropped if a value is missing or breaks a rule, or if the table has no speed for its job type and number
    of GPUs on the first GPU type.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of Gavel's files or of all traces.
    trace
        If `path` is a folder: name of the trace, such as ``msr/seed=0/795a4c``.
    gpu_types
        GPU types among ``v100``, ``p100`` and ``k80``. Durations and the default mode are for the first one.
        For each other type on which a job was measured, it has a mode named after the type.
    throughputs
        The table of speeds. By default, the nearest ``simulation_throughputs.json``, plain or gzipped, in the
        folder of the file or above.
    selection
        Window, GPU cap and sample; see `Selection`.

    Raises
    ------
    InvalidInput
        A file cannot be read, no line has 7 or 10 fields, or an option is out of range.

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
    issues: list[Issue] = []
    found = separated(file, enumerate(text_lines(file), start=1), _FIELDS, issues, TAB)
    table = read_throughputs(_table(file) if throughputs is None else Path(throughputs))
    entries = list(usable(found, lambda row: _job(row, table, tuple(gpu_types)), issues))
    return select("gavel", f"Gavel trace, {file.name}, {' '.join(gpu_types)}", entries, issues, **selection)


def _table(file: Path) -> Path:
    """Return the nearest table of speeds in the folder of a file or above."""
    for folder in file.absolute().parents:
        for name in _TABLES:
            if (folder / name).is_file():
                return folder / name
    raise InvalidInput(
        "throughputs", "", f"must be {_TABLES[1]} beside or above the file, or given", source=str(file)
    )


def _job(row: TraceRow, table: Throughputs, types: tuple[str, ...]) -> Job:
    gpus, steps, said = row.whole_number("gpus"), row.whole_number("steps"), row.values["type"]
    speeds = {kind: rate for kind, rate in table.get(f"('{said}', {gpus})", {}).items() if rate}
    require(steps > 0, "steps", steps, "must be at least 1")
    named = _TYPE.fullmatch(said)
    if named is None or types[0] not in speeds:
        rule = f"must be a type of job that was measured on {gpus} GPUs of {types[0]}"
        raise InvalidInput("type", shorten(said), rule)
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
