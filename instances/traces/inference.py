"""Inference: how many GPUs serve requests over time, read from two public traces.

These are no readers of jobs, so they are not among the names of the package.
"""

import tarfile
from collections.abc import Sequence
from io import BytesIO
from itertools import accumulate
from math import inf
from pathlib import Path
from statistics import fmean

from gsopt.core.errors import InvalidInput, require
from instances.traces.reading import Issue, TraceRow, content, find, rows, usable

#: Places of the files in the folder of public traces.
INSTANCES = Path("alibaba_gpu2025_dlrm/disaggregated_DLRM_trace.csv.gz")
DUTY_CYCLES = Path("alibaba_genai2026_inference/pod_gpu_duty_cycle_anon.tar.gz")

#: Seconds of a day.
DAY = 86_400

_INSTANCE_COLUMNS = ("instance_sn", "gpu_request")
_DUTY_COLUMNS = ("value", "timestamp_anon")


def serving_gpus(path: str | Path, times: Sequence[float]) -> tuple[int, ...]:
    """List how many GPUs the inference instances of a trace hold at some times, in seconds from its beginning.

    An instance holds what it requests from its creation to its deletion; one that was there before the trace,
    or is there after it, has no such time in the file.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the trace or of all traces.
    times
        Seconds, ascending.

    Raises
    ------
    InvalidInput
        The file cannot be read, or no row of it can be used.

    Notes
    -----
    L. Yang et al., GPU-disaggregated serving for deep learning recommendation models at scale, NSDI 2025.
    """
    file = find(path, INSTANCES)
    issues: list[Issue] = []
    found = usable(rows(file.name, content(file), _INSTANCE_COLUMNS, issues, further=True), _held, issues)
    changes = sorted(change for _, held in found for change in held)
    require(bool(changes), "instances", file.name, "must have a row with GPUs, a creation and a deletion")
    counts = list(accumulate((change for _, change in changes), initial=0))
    given: list[int] = []
    passed = 0
    for time in times:
        while passed < len(changes) and changes[passed][0] <= time:
            passed += 1
        given.append(counts[passed])
    return tuple(given)


def duty_cycle_of_a_day(path: str | Path, *, step: int = 300, window: int = 7_200) -> tuple[float, ...]:
    """List the mean duty cycle of the GPUs of a service over one day, in steps, as a smooth curve that repeats.

    Each step has the mean of the samples in it; a step without any, as at the end of a trace that is shorter
    than a day, lies on the line between its neighbours. Then each has the mean over a window around it.
    Values are anonymised: their shape means something, their level does not.

    Parameters
    ----------
    path
        The archive, or the folder of the trace or of all traces.
    step
        Seconds of a step; a divisor of the day.
    window
        Seconds over which the curve is smoothed.

    Raises
    ------
    InvalidInput
        The archive cannot be read or holds no such table, or an argument is out of its range.

    Notes
    -----
    Y. Lin et al., Understanding diffusion model serving in production, SoCC 2025.
    """
    require(step >= 1 and DAY % step == 0, "step", step, "must divide a day of 86,400 s")
    require(0 <= window <= DAY, "window", window, "must be between 0 and 86,400 s")
    file = find(path, DUTY_CYCLES)
    issues: list[Issue] = []
    found = usable(rows(file.name, _table(file), _DUTY_COLUMNS, issues, further=True), _sample, issues)
    samples = [sample for _, sample in found]
    require(bool(samples), "duty cycles", file.name, "must have a row with a value and a time")
    begin = min(time for time, _ in samples)
    steps: list[list[float]] = [[] for _ in range(DAY // step)]
    for time, value in samples:
        if time < begin + DAY:
            steps[int((time - begin) // step)].append(value)
    return _smooth(_bridged([fmean(values) if values else None for values in steps]), window // step // 2)


def _held(row: TraceRow) -> tuple[tuple[float, int], tuple[float, int]]:
    """Return when an instance takes its GPUs, and when it gives them back."""
    gpus = row.whole_number("gpu_request")
    begin, end = (
        row.number(column) if row.values.get(column) else other
        for column, other in (("creation_time", -inf), ("deletion_time", inf))
    )
    if end < begin:
        raise InvalidInput("", "deletion_time", row.values["deletion_time"], "must not be before the creation")
    return (begin, gpus), (end, -gpus)


def _sample(row: TraceRow) -> tuple[float, float]:
    return row.number("timestamp_anon"), row.number("value")


def _table(file: Path) -> bytes:
    """Return the only table of an archive."""
    data = content(file)
    try:
        with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
            for member in archive:
                taken = archive.extractfile(member) if member.isreg() and member.size <= len(data) else None
                if taken and member.name.endswith(".csv"):
                    return taken.read()
    except tarfile.TarError:
        raise InvalidInput(str(file), "", "", "must be a complete tar archive") from None
    raise InvalidInput(str(file), "", "", "must hold a table of duty cycles")


def _bridged(curve: Sequence[float | None]) -> list[float]:
    """Fill gaps of a curve that repeats with straight lines."""
    known = [place for place, value in enumerate(curve) if value is not None]
    filled: list[float] = []
    for place in range(len(curve)):
        low = max((each for each in known if each <= place), default=known[-1] - len(curve))
        high = min((each for each in known if each >= place), default=known[0] + len(curve))
        before, after = curve[low % len(curve)] or 0.0, curve[high % len(curve)] or 0.0
        share = (place - low) / (high - low) if high > low else 0.0
        filled.append(before + share * (after - before))
    return filled


def _smooth(curve: Sequence[float], reach: int) -> tuple[float, ...]:
    """Return the means of a curve that repeats over so many steps on either side."""
    around = range(-reach, reach + 1)
    return tuple(fmean(curve[(place + each) % len(curve)] for each in around) for place in range(len(curve)))
