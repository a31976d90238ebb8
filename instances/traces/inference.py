"""Inference: the GPUs that inference instances hold, and how busy GPUs are during a day, from two traces.

The package does not export these functions, because they do not read jobs.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import inf
from pathlib import Path
from statistics import fmean

from gsopt.core.errors import InvalidInput, require
from instances.traces.reading import TraceRow, find, members, read_table, rows, usable

#: Paths of the files in the folder of public traces.
INSTANCES = Path("alibaba_gpu2025_dlrm/disaggregated_DLRM_trace.csv.gz")
DUTY_CYCLES = Path("alibaba_genai2026_inference/pod_gpu_duty_cycle_anon.tar.gz")

#: Seconds per day.
DAY = 86_400

_INSTANCE_COLUMNS = ("instance_sn", "gpu_request")
_DUTY_COLUMNS = ("value", "timestamp_anon")
_MEMBER = re.compile(r".*\.csv")


def serving_gpus(path: str | Path, times: Sequence[float]) -> tuple[int, ...]:
    """Return how many GPUs inference instances hold at each of the given times.

    Times are in seconds from the beginning of the trace. From its creation to its deletion, an instance holds
    the GPUs that it requests. The file has no creation time for instances that are older than the trace, and no
    deletion time for those that outlive it. Unusable rows are skipped.

    Notes
    -----
    L. Yang et al., GPU-disaggregated serving for deep learning recommendation models at scale, NSDI 2025.
    """
    file = find(path, INSTANCES)
    changes = sorted(change for _, held in read_table(file, _INSTANCE_COLUMNS, _held, []) for change in held)
    require(bool(changes), "instances", file.name, "must have a row with GPUs, a creation and a deletion")
    counts = list(accumulate((change for _, change in changes), initial=0))
    return tuple(counts[bisect_right(changes, time, key=lambda change: change[0])] for time in times)


def duty_cycle_of_a_day(path: str | Path, *, step: int = 300, window: int = 7_200) -> tuple[float, ...]:
    """Return the mean duty cycle of a service's GPUs in each step of a day, as a smooth periodic curve.

    Only the first 24 hours of the trace count, and the first step begins at the earliest sample. The value of a
    step is the mean of its samples, or is interpolated between the nearest steps with samples if it has none.
    Every value is then averaged over a window around it. `step` and `window` are in seconds. Unusable rows are
    skipped. The data are anonymized, so the shape of the curve is meaningful, but its level is not.

    Notes
    -----
    Y. Lin et al., Understanding diffusion model serving in production, SoCC 2025.
    """
    require(step >= 1 and DAY % step == 0, "step", step, "must divide a day of 86,400 s")
    require(0 <= window <= DAY, "window", window, "must be between 0 and 86,400 s")
    file = find(path, DUTY_CYCLES)
    found = usable(rows(file.name, _table(file), _DUTY_COLUMNS, [], further=True), _sample, [])
    samples = [sample for _, sample in found]
    require(bool(samples), "duty cycles", file.name, "must have a row with a value and a time")
    begin = min(time for time, _ in samples)
    steps: list[list[float]] = [[] for _ in range(DAY // step)]
    for time, value in samples:
        if time < begin + DAY:
            steps[int((time - begin) // step)].append(value)
    return _smooth(_bridged([fmean(values) if values else None for values in steps]), window // step // 2)


def _held(row: TraceRow) -> tuple[tuple[float, int], tuple[float, int]]:
    """Return the times at which an instance is created and deleted, each with the change in GPUs in use."""
    gpus = row.whole_number("gpu_request")
    begin, end = (
        row.number(column) if row.values.get(column) else other
        for column, other in (("creation_time", -inf), ("deletion_time", inf))
    )
    if end < begin:
        raise InvalidInput("deletion_time", row.values["deletion_time"], "must not be before the creation")
    return (begin, gpus), (end, -gpus)


def _sample(row: TraceRow) -> tuple[float, float]:
    return row.number("timestamp_anon"), row.number("value")


def _table(file: Path) -> bytes:
    """Return the first table in an archive."""
    for _, data in members(file, _MEMBER):
        return data
    raise InvalidInput("", "", "must hold a table of duty cycles", source=str(file))


def _bridged(curve: Sequence[float | None]) -> list[float]:
    """Fill the gaps of a periodic curve by linear interpolation."""
    known = [place for place, value in enumerate(curve) if value is not None]
    filled: list[float] = []
    for place in range(len(curve)):
        low = max((each for each in known if each <= place), default=known[-1] - len(curve))
        high = min((each for each in known if each >= place), default=known[0] + len(curve))
        before, after = curve[low % len(curve)] or 0.0, curve[high % len(curve)] or 0.0
        share = (place - low) / (high - low) if high > low else 0.0
        filled.append(before + share * (after - before))
    return filled


def _smooth(curve: Sequence[float], steps: int) -> tuple[float, ...]:
    """Smooth a periodic curve by averaging over `steps` steps on either side."""
    around = range(-steps, steps + 1)
    return tuple(fmean(curve[(place + each) % len(curve)] for each in around) for place in range(len(curve)))
