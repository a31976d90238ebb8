"""Gavel: throughputs of 26 configurations, alone and in pairs, on a single GPU of each of three types."""

import re
from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.performance.interference import Couple, Profile
from instances.interference.reading import PairReading, assemble
from instances.traces.reading import find
from instances.traces.throughputs import ALONE, rate, read_tables

#: Path of the file in the folder of public traces.
FILE = Path("gavel/simulation_throughputs.json.gz")

_SPREAD = "_unconsolidated"  # workers on different machines: of no meaning for one GPU
_PLACED = re.compile(r"\('(?P<name>[^']+)', (?P<gpus>[0-9]+)\)")
_BATCH = re.compile(r"\(batch size (?P<size>[0-9]+)\)")

#: Number of jobs in a pair.
_BOTH = 2

Throughputs = Mapping[str, Mapping[str, Any]]


def gavel(path: str | Path, *, gpu: str = "v100") -> PairReading:
    """Read the pairs of jobs on one GPU from a table of throughputs published with Gavel.

    The table has the iterations per second of each configuration of a job (usually a model and its batch size)
    alone, and of both jobs of each pair. Pairs on several GPUs are not read. Pairs in which a job has a speed
    of 0, alone or in the pair, are left out. A job that is faster in a pair than alone gets a slowdown of 1.

    The features of a configuration are its batch size (1 if the name has none), its iterations and samples per
    second, and, for each other GPU type in the file, how many times faster it is on `gpu` than on that type (0
    if it did not run there).

    Source: the public repository of Gavel (OSDI 2020).

    Parameters
    ----------
    path
        The file, or the folder of Gavel's files or of all traces, from which ``simulation_throughputs.json.gz``
        is read.
    gpu
        GPU type, which must be in the file.

    Raises
    ------
    InvalidInput
        The file cannot be read, is not a table of throughputs, or lacks the GPU type.

    Examples
    --------
    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> alone = {"A3C": {"null": 4.0, "A3C": [2.0, 2.0], "LM (batch size 5)": [3.2, 5.0]}}
    >>> beside = {"LM (batch size 5)": {"null": 10.0, "A3C": [5.0, 3.2], "LM (batch size 5)": [0, 0]}}
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.json").write_text(json.dumps({"v100": alone | beside}))
    ...     reading = gavel(f"{folder}/a.json")
    >>> reading.table.slowdowns["LM (batch size 5)"], reading.left_out
    ({'A3C': 2.0}, (('LM (batch size 5)', 'LM (batch size 5)'),))
    """
    file = find(path, FILE)
    types = _types(file)
    if gpu not in types:
        raise InvalidInput("gpu", shorten(gpu), f"must be one of {', '.join(types)}", source=str(file))
    rates = {kind: _alone(str(file), kind, rows) for kind, rows in types.items()}
    names = [name for name, speed in rates[gpu].items() if speed]
    profiles = [Profile(name=name, features=_features(name, gpu, rates)) for name in names]
    return assemble(f"gavel {gpu}", profiles, _pairs(str(file), gpu, types[gpu], rates[gpu]))


def _types(file: Path) -> dict[str, Throughputs]:
    """Return the measurements on a single GPU, by GPU type and configuration."""
    tables = read_tables(file)
    for kind, rows in tables.items():
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise InvalidInput(
                kind, "", "must be an object of throughputs for each configuration", source=str(file)
            )
    return {
        kind: {
            _placed(key)[0]: {_placed(other)[0]: cell for other, cell in row.items()}
            for key, row in _single(rows)
        }
        for kind, rows in tables.items()
        if not kind.endswith(_SPREAD)
    }


def _single(rows: Throughputs) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of jobs on one GPU, without their pairs with jobs on several GPUs."""
    for key, row in rows.items():
        if _placed(key)[1] == 1:
            yield key, {other: cell for other, cell in row.items() if _placed(other)[1] == 1}


def _placed(key: str) -> tuple[str, int]:
    """Return the name of a configuration and its number of GPUs."""
    found = _PLACED.fullmatch(key)
    return (found["name"], int(found["gpus"])) if found else (key, 1)


def _alone(file: str, kind: str, rows: Throughputs) -> dict[str, float]:
    return {name: rate(file, f"{kind}.{name}.{ALONE}", row.get(ALONE)) for name, row in rows.items()}


def _features(name: str, gpu: str, rates: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    found = _BATCH.search(name)
    batch, speed = int(found["size"]) if found else 1, rates[gpu][name]
    others = {kind: rates[kind].get(name, 0.0) for kind in rates if kind != gpu}
    return {
        "batch size": batch,
        "iterations per second": speed,
        "samples per second": batch * speed,
        **{f"times faster than on {kind}": speed / other if other else 0.0 for kind, other in others.items()},
    }


def _pairs(
    file: str, kind: str, rows: Throughputs, alone: Mapping[str, float]
) -> Iterator[tuple[Couple, tuple[float, float] | None]]:
    """Yield the relative speeds of each pair, taking the speed of each job from its own row."""
    for first, second in combinations_with_replacement(rows, 2):
        if second in rows[first] and first in rows[second]:
            speeds = _own(file, kind, rows, first, second), _own(file, kind, rows, second, first)
            ran = all((*speeds, alone[first], alone[second]))
            yield (first, second), (speeds[0] / alone[first], speeds[1] / alone[second]) if ran else None


def _own(file: str, kind: str, rows: Throughputs, name: str, other: str) -> float:
    field, cell = f"{kind}.{name}.{other}", rows[name][other]
    if not isinstance(cell, list) or len(cell) != _BOTH:
        raise InvalidInput(field, shorten(cell), "must be the iterations per second of both jobs", source=file)
    return rate(file, field, cell[0])
