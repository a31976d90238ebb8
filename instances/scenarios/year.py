"""Year: two million jobs of three public traces, tiled over a year of a cluster with 100,000 GPUs."""

from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from gsopt.core.errors import require
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from instances.arguments import required
from instances.traces import crux, helios, philly
from instances.traces.reading import Reading

#: Number of jobs, days and GPUs.
JOBS, DAYS, GPUS = 2_000_000, 365, 100_000

_DAY, _HOUR = 86_400, 3_600

_Array = np.ndarray[Any, Any]
_Reader = Callable[[Path], Reading]

#: The traces, with their files in the folder of public traces.
TRACES: tuple[tuple[_Reader, str], ...] = (
    (philly, "philly_full/philly_trace.csv.gz"),
    (helios, "helios_venus_full/helios_trace.csv.gz"),
    (crux, "crux_lingjun"),
)


def year(path: str | Path | None = None, *, jobs: int = JOBS, load: float = 1.0, seed: int = 0) -> Scenario:
    """Create a scenario of a year on 100,000 GPUs from the traces Philly, Venus (Helios) and Crux.

    A third of the jobs comes from each trace. Each trace is repeated until it fills the year. Such years are
    laid over each other until there are enough jobs, and some jobs are then left out at random. Each repetition
    begins at a random day of the trace, wraps around at its end, and releases each job up to an hour later.
    Times of day, bursts and days with few jobs therefore remain. All times are rounded to whole seconds.

    The jobs of these traces are too small to fill 100,000 GPUs. Every job therefore needs either 2^k or 2^(k+1)
    times its GPUs for the same duration, where k and the probabilities follow from the load.

    If `jobs` is less than two million, only the first jobs of the year are kept, on the same number of GPUs.
    The first days are less busy, because the cluster is empty at first.

    Parameters
    ----------
    path
        The folder of all public traces. Required.
    jobs
        Number of jobs, from the beginning of the year.
    load
        Expected GPU time of the jobs of the whole year, as a fraction of the GPU time of the cluster.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        A trace cannot be read, or an argument is out of range.

    Examples
    --------
    >>> year("no/such/folder")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/folder/philly_full/philly_trace.csv.gz: \
cannot be read: No such file or directory
    """
    require(1 <= jobs <= JOBS, "jobs", jobs, f"must be from 1 to {JOBS:,}")
    folder, random = Path(required(path)), np.random.default_rng(seed)
    shares = [len(part) for part in np.array_split(np.arange(JOBS), len(TRACES))]
    parts = [
        _tiled(_columns(reader(folder / file).workload), share, random)
        for (reader, file), share in zip(TRACES, shares, strict=True)
    ]
    release, duration, gpus = np.concatenate(parts, axis=1)
    factor = load * GPUS * DAYS * _DAY / int(duration @ gpus)
    most = GPUS / 2 / int(gpus.max())
    rule = f"must multiply the GPUs of jobs by 1 to {most:g}, not {factor:g}"
    require(1 <= factor <= most, "load", load, rule)
    least = 2 ** int(log2(factor))
    gpus *= np.where(random.random(JOBS) < factor / least - 1, 2 * least, least)
    order = np.argsort(release, kind="stable")[:jobs]
    origins = np.repeat([reader.__name__ for reader, _ in TRACES], shares)[order]
    columns = (release[order] - release[order[0]], duration[order], gpus[order])
    rows = zip(origins.tolist(), *(column.tolist() for column in columns), strict=True)
    return Scenario.of(
        Workload(
            name=f"year-{jobs}",
            source=f"first {jobs} jobs of a year of Philly, Venus and Crux, load {load:g}, seed {seed}",
            jobs=tuple(
                Job(name=f"{origin}-{number}", release_date=float(begin), duration=float(length), gpus=count)
                for number, (origin, begin, length, count) in enumerate(rows)
            ),
        ),
        GPUS,
    )


def _columns(workload: Workload) -> _Array:
    """Return the release dates, durations and GPUs of jobs in three rows of integers, with whole seconds."""
    rows = [(job.release_date, max(job.duration, 1), job.gpus) for job in workload.jobs]
    found: _Array = np.rint(np.array(rows).T).astype(np.int64)
    return found


def _tiled(columns: _Array, count: int, random: np.random.Generator) -> _Array:
    """Return this number of jobs, drawn from copies of a trace that are repeated throughout the year."""
    length = int(columns[0].max()) // _DAY + 1
    starts = range(0, DAYS, length)
    tiles: list[_Array] = []
    while sum(tile.shape[1] for tile in tiles) < count:
        tiles += [_tile(columns, start, length, random) for start in starts]
    jobs = np.concatenate(tiles, axis=1)
    return jobs[:, random.choice(jobs.shape[1], count, replace=False)]


def _tile(columns: _Array, start: int, length: int, random: np.random.Generator) -> _Array:
    """Return a trace that repeats from a day of the year on, for as many days as it is long, in that year."""
    release, duration, gpus = columns
    days = start * _DAY + (release + random.integers(length) * _DAY) % (length * _DAY)
    tile = np.stack([days + random.integers(_HOUR, size=days.shape), duration, gpus])
    return tile[:, tile[0] < DAYS * _DAY]
