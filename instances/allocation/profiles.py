"""Profiles: iterations per second on each number of GPUs, as measured and published for ElasticFlow."""

import csv
from math import isfinite
from pathlib import Path

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import read_text

#: Path of the tables in the folder of public traces.
FOLDER = Path("elasticflow_profiles/scheduler/throughputs_T4")


def curves(folder: str | Path) -> dict[str, dict[int, float]]:
    """Read the tables in a folder, and return curves of speed over GPUs, keyed by model and batch size.

    A key joins a model, which is the name of a table, and a batch size, as in ``vgg16-64``. A curve maps each
    number of GPUs to iterations per second. Numbers that were not measured (blank, nan or 0) are left out.
    """
    return {
        f"{path.stem}-{batch}": curve
        for path in sorted(Path(folder).glob("*.csv"))
        for batch, curve in _table(path).items()
    }


def _table(path: Path) -> dict[str, dict[int, float]]:
    text = read_text(path)
    try:
        header, *rows = csv.reader(text.splitlines())
        counts = [int(cell) for cell in header[1:]]
        return {row[0]: _curve(counts, row[1:]) for row in rows if row}
    except ValueError as error:
        raise InvalidInput("", shorten(str(error)), "must be a table of numbers", source=str(path)) from None


def _curve(counts: list[int], cells: list[str]) -> dict[int, float]:
    speeds = {count: float(cell) for count, cell in zip(counts, cells, strict=True) if cell}
    return {count: speed for count, speed in speeds.items() if isfinite(speed) and speed > 0}
