"""Throughputs: the table of iterations per second that Gavel's simulator uses."""

from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import parse_json
from instances.traces.reading import content

#: The GPU types in the table.
TYPES = frozenset({"v100", "p100", "k80"})

#: Key for the speed of a job alone in its row.
ALONE = "null"

#: Iterations per second, keyed by configuration (a model and its GPU count) and then by GPU type.
Throughputs = Mapping[str, Mapping[str, float]]


def read_tables(file: Path) -> dict[str, Any]:
    """Read a JSON object, plain or gzipped, that has a table for each GPU type."""
    try:
        text = content(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput("", f"byte {error.start}", "must be UTF-8 text", source=str(file)) from None
    return parse_json(str(file), text)


def rate(file: str, field: str, value: object) -> float:
    """Return a cell as iterations per second, or raise `InvalidInput` if it is not a non-negative number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0:
        return float(value)
    raise InvalidInput(field, shorten(value), "must be iterations per second, at least 0", source=file)


def read_throughputs(file: Path) -> dict[str, dict[str, float]]:
    """Read the iterations per second of each configuration without GPU sharing, with consolidated workers."""
    tables = read_tables(file)
    found: dict[str, dict[str, float]] = {}
    for kind in (each for each in tables if each in TYPES):
        for key, speed in _rows(str(file), kind, tables[kind]):
            found.setdefault(key, {})[kind] = speed
    return found


def _rows(file: str, kind: str, rows: Any) -> Iterator[tuple[str, float]]:
    if not isinstance(rows, dict):
        raise InvalidInput(
            kind, shorten(rows), "must be an object of throughputs for each configuration", source=file
        )
    for key, row in rows.items():
        yield key, rate(file, f"{kind}.{key}.{ALONE}", row.get(ALONE) if isinstance(row, dict) else None)
