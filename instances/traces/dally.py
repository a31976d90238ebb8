"""Dally: the job lists of its simulator, made of Helios jobs."""

import json
from collections.abc import Iterator
from math import inf
from pathlib import Path
from random import Random
from typing import Any, Unpack

from gsopt.errors import InvalidInput, shorten
from gsopt.job import Job
from instances.arguments import require
from instances.traces.reading import Issue, Reading, Row, content, find, usable
from instances.traces.selection import Entry, Selection, select

#: Place of the file in the folder of public traces: the day of 344 jobs, with real arrivals.
FILE = Path("dally_artistsim/jobs/sensetime-1april.json.gz")

_KEYS = ("job_id", "submit_time", "start_time", "duration", "model", "batchsize", "max_parallelism")
_TO_BE_DRAWN = "-1"


def dally(path: str | Path, *, mean_gap: float | None = None, **selection: Unpack[Selection]) -> Reading:
    """Read a job list of Dally: arrival (s), duration (s), number of GPUs, model and batch size of every job.

    The arrival is ``start_time``: 0 for every job of a batch, real arrivals, or -1 for every job where the
    simulator draws them. In that case the jobs arrive in the order of the file with exponentially distributed
    gaps if `mean_gap` is given, and else at the ``submit_time`` at which they were once submitted; both are
    reported as a repair. The number of GPUs is ``max_parallelism``. Slowdowns are not read, as they are the
    same numbers for every job. An entry is dropped when one of the values that are used is missing or breaks a
    rule, or when its job was read before. Models were assigned by Lucid, not by SenseTime.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the job lists or of all traces.
    mean_gap
        Mean number of seconds between two arrivals where arrivals are to be drawn.
    selection
        Window, GPU cap and sample, see `Selection`; `seed` is that of the arrivals, too.

    Raises
    ------
    InvalidInput
        The file cannot be read or is no list of jobs, or an option is out of its range.

    Examples
    --------
    >>> dally("no/such/jobs.json")
    Traceback (most recent call last):
    gsopt.errors.InvalidInput: no/such/jobs.json: cannot be read: No such file or directory
    """
    require(mean_gap is None or 0 < mean_gap < inf, "mean_gap", mean_gap, "must be more than 0")
    file = find(path, FILE)
    issues: list[Issue] = []
    table = list(_rows(file, issues))
    if sum(row.values["start_time"] == _TO_BE_DRAWN for row in table) > len(table) / 2:
        entries = list(usable(table, _submitted, issues))
        done = "submit_time is used"
        if mean_gap is not None:
            entries, done = (
                _drawn(entries, mean_gap, selection.get("seed", 0)),
                f"drawn, mean gap {mean_gap:g} s",
            )
        issues += [
            Issue(file=row.file, row=row.line, reason=f"start_time: -1: {done}", repaired=True)
            for row, _ in entries
        ]
    else:
        entries = list(usable(table, lambda row: _job(row, row.number("start_time")), issues))
    return select("dally", f"Dally job list, {file.name}", entries, issues, **selection)


def _rows(file: Path, issues: list[Issue]) -> Iterator[Row]:
    for number, entry in enumerate(_entries(file), start=1):
        values = entry if isinstance(entry, dict) else {}
        wrong = next((key for key in _KEYS if not isinstance(values.get(key), str) or not values[key]), "")
        if wrong:
            value = shorten(values[wrong]) + ": " if wrong in values else ""
            reason = f"{wrong}: {value}must be a text that is not empty"
            issues.append(Issue(file=file.name, row=number, reason=reason))
        else:
            yield Row(file.name, number, {key: values[key] for key in _KEYS})


def _entries(file: Path) -> list[Any]:
    try:
        data = json.loads(content(file))
    except RecursionError:
        raise InvalidInput(str(file), "", "", "must not be nested so deeply") from None
    except InvalidInput:
        raise
    except ValueError:  # no JSON, no UTF-8, or an integer of thousands of digits
        raise InvalidInput(str(file), "", "", "must be JSON") from None
    if not isinstance(data, list):
        raise InvalidInput(str(file), "", shorten(data), "must be a list of jobs")
    return data


def _submitted(row: Row) -> Job:
    arrival = row.values["start_time"]
    if arrival != _TO_BE_DRAWN:
        raise InvalidInput("", "start_time", shorten(arrival), "must be -1, as in most entries")
    return _job(row, row.moment("submit_time"))


def _job(row: Row, release_date: float) -> Job:
    return Job(
        name=row.values["job_id"],
        release_date=release_date,
        duration=row.number("duration"),
        gpus=row.whole_number("max_parallelism"),
        model=row.values["model"],
        batch_size=row.whole_number("batchsize"),
    )


def _drawn(entries: list[Entry], mean_gap: float, seed: int) -> list[Entry]:
    random = Random(seed)
    time = 0.0
    drawn: list[Entry] = []
    for row, job in entries:
        drawn.append((row, job.model_copy(update={"release_date": time})))
        time += random.expovariate(1 / mean_gap)
    return drawn
