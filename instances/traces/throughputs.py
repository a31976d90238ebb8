"""Throughputs: the table of iterations per second that Gavel's simulator works with."""

from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import parse_json
from instances.traces.reading import content

#: The types of GPUs of the table.
TYPES = frozenset({"v100", "p100", "k80"})

_ALONE = "null"

#: Iterations per second of each configuration, model and number of GPUs, on each type.
Throughputs = Mapping[str, Mapping[str, float]]


def read_throughputs(file: Path) -> dict[str, dict[str, float]]:
    """Read the iterations per second of each configuration alone, its workers close together.

    Raises
    ------
    InvalidInput
        The file cannot be read, or is no such table.
    """
    try:
        tables = parse_json(str(file), content(file).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInput(str(file), "", f"byte {error.start}", "must be UTF-8 text") from None
    found: dict[str, dict[str, float]] = {}
    for kind in TYPES & tables.keys():
        for key, rate in _rows(str(file), kind, tables[kind]):
            found.setdefault(key, {})[kind] = rate
    return found


def _rows(file: str, kind: str, rows: Any) -> Iterator[tuple[str, float]]:
    if not isinstance(rows, dict):
        raise InvalidInput(file, kind, shorten(rows), "must be an object of throughputs for each configuration")
    for key, row in rows.items():
        rate = row.get(_ALONE) if isinstance(row, dict) else None
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not isfinite(rate) or rate < 0:
            raise InvalidInput(
                file, f"{kind}.{key}.{_ALONE}", shorten(rate), "must be iterations per second, at least 0"
            )
        yield key, float(rate)
