"""Whole: the best known values and bounds of whole public traces, in the setting of docs/suites.md.

Jobs are rigid, and starting or stopping them takes no time. The file ``solutions/traces/known.json`` has a row
for each trace, and further rows about certificates for the workloads of `instances.scenarios.best`.
"""

import json
from datetime import date
from pathlib import Path
from typing import Any

from gsopt.core.errors import InvalidInput, require_one_of
from gsopt.core.files import read_text
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.schedule.judge import judged
from gsopt.schedule.verify import ProofData
from instances import traces
from instances.arguments import required
from instances.scenarios.best import NAMES

#: Seconds between two decisions; None, as they may be made at any time.
ROUND = None

#: File of the rows.
FILE = Path(__file__).parents[1] / "solutions" / "traces" / "known.json"


def rows() -> dict[str, dict[str, Any]]:
    """Return the rows of the whole traces, keyed by name, without the rows of other workloads.

    Examples
    --------
    >>> rows()["crux"]["gpus"]
    1024
    """
    return {row["name"]: row for row in json.loads(read_text(FILE)) if row["name"] not in NAMES}


def scenario(name: str, path: str | Path | None = None) -> Scenario:
    """Read the scenario of a trace, and check that its digest is the one in the trace's row.

    Parameters
    ----------
    name
        Name of the trace, such as ``crux``.
    path
        The folder of all public traces, or the file of the trace. Required.

    Raises
    ------
    InvalidInput
        There is no such trace, or the file cannot be read or holds other jobs.
    """
    row, given = _row(name), Path(required(path))
    inside = given / row["file"]
    file = inside if inside.exists() else given
    reading = getattr(traces, row["reader"])(file, max_gpus=row["gpus"])
    found = Scenario.of(reading.workload, row["gpus"])
    digest = ProofData.of(found).digest()
    if digest != row["digest"]:
        rule = f"must be {row['digest']}, that of the jobs of {name}"
        raise InvalidInput("digest", digest, rule, source=str(file))
    return found


def value_of(schedule: Schedule, given: Scenario) -> float:
    """Return the mean job completion time of a schedule, or raise `InvalidSolution` if it breaks a rule."""
    return float(judged(schedule, given, fairness=False).mean_jct or 0)


def bracket(name: str) -> tuple[float, float]:
    """Return the best known mean job completion time of a trace, and the best lower bound, in seconds.

    Examples
    --------
    >>> value, bound = bracket("crux")
    >>> bound < value
    True
    """
    row = _row(name)
    return row["value"], row["bound"]


def entry(
    name: str, *, by: str, day: date, value: float | None = None, bound: float | None = None, **file: str
) -> dict[str, Any]:
    """Return the row of a trace with a new value or, if `value` is None, with a new bound.

    `file` contains the version of gsopt, and the digest of the schedule or certificate.
    """
    row = _row(name) | {"by": by, "date": day.isoformat(), "version": file["version"]}
    if value is None:
        return row | {"bound": bound, "certificate": file["digest"]}
    schedule = {"value": value, "policy": by, "values": row["values"] | {by: value}}
    return row | schedule | {"schedule": file["digest"]}


def _row(name: str) -> dict[str, Any]:
    known = rows()
    require_one_of("name", name, known)
    return known[name]
