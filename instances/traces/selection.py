"""Selection: a choice of jobs from a trace, by time, by number of GPUs, and at random."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf, isfinite
from random import Random
from typing import TypedDict

from gsopt.core.errors import require, shorten
from gsopt.core.numbers.span import read_window
from gsopt.scenario.job import Job, Workload
from instances.traces.reading import Issue, Reading, TraceRow

#: A row of a trace and the job that it describes, whose release date is on the trace's own clock.
Entry = tuple[TraceRow, Job]


class Selection(TypedDict, total=False):
    """Options that every reader has, for selecting jobs from the whole file.

    Attributes
    ----------
    window
        Beginning and end in seconds after the first release date, or a string such as ``30d:31d``. Jobs
        released at or after the beginning and before the end are kept. The beginning becomes time 0 of the
        workload. Without a window or `busiest`, time 0 is the first release date.
    busiest
        Length of a period in seconds. Instead of a window, the period of this length with the most releases is
        kept, regardless of the jobs' GPUs. If there are several, the first one is kept. It begins with a
        release, which becomes time 0.
    max_gpus
        Largest number of GPUs of a job. Jobs that demand more are dropped and reported. Menu entries with more
        GPUs are removed.
    cap
        Whether to reduce the demand of larger jobs to `max_gpus`, or to the largest menu entry up to
        `max_gpus`, instead of dropping them. This is reported as a repair. A job whose menu has no such entry
        is dropped.
    sample
        Number of jobs to keep from those that remain, drawn without replacement. If there are fewer, all are
        kept.
    seed
        Seed of all random draws.
    """

    window: tuple[float, float] | str | None
    busiest: float | None
    max_gpus: int | None
    cap: bool
    sample: int | None
    seed: int


def select(
    name: str,
    source: str,
    entries: Iterable[Entry],
    issues: Iterable[Issue],
    *,
    window: tuple[float, float] | str | None = None,
    busiest: float | None = None,
    max_gpus: int | None = None,
    cap: bool = False,
    sample: int | None = None,
    seed: int = 0,
) -> Reading:
    """Return a reading of a trace with the jobs that the options of `Selection` select.

    Of jobs with the same name, the first one is kept. Rows that are out of order are sorted by release date,
    which is reported once as a repair. A capped job without a menu keeps its duration, because its speed on
    fewer GPUs is unknown. The duration of a capped job with a menu follows from its speed on its new demand.

    Parameters
    ----------
    name, source
        Name and origin of the workload.
    entries
        Every usable row, with its job.
    issues
        Issues reported so far.

    Raises
    ------
    InvalidInput
        An option is out of range.
    """
    if isinstance(window, str):
        window = read_window(window)
    _check(window, busiest, max_gpus, sample)
    noted = list(issues)
    kept = _sorted(_distinct(entries, noted), noted)
    first = begin = kept[0][1].release_date if kept else 0.0
    end = inf
    if window is not None:
        begin, end = first + window[0], first + window[1]
    elif busiest is not None and kept:
        begin = _busiest([job.release_date for _, job in kept], busiest)
        end = begin + busiest
    if end < inf:
        kept = [entry for entry in kept if begin <= entry[1].release_date < end]
        source += f", {begin - first:g} to {end - first:g} s after the first release"
    if max_gpus is not None:
        kept = _at_most(max_gpus, kept, noted, cap=cap)
    if sample is not None and sample < len(kept):
        kept = [kept[place] for place in sorted(Random(seed).sample(range(len(kept)), sample))]
        source += f", {sample} jobs drawn with seed {seed}"
    jobs = tuple(job.model_copy(update={"release_date": job.release_date - begin}) for _, job in kept)
    in_order = tuple(sorted(noted, key=lambda issue: (issue.file, issue.row)))
    return Reading(workload=Workload(name=name, source=source, jobs=jobs), issues=in_order)


def _check(
    window: tuple[float, float] | None, busiest: float | None, max_gpus: int | None, sample: int | None
) -> None:
    if window is not None:
        fine = all(map(isfinite, window)) and 0 <= window[0] < window[1]
        require(fine, "window", window, "must begin at 0 or later and before it ends")
    if busiest is not None:
        require(isfinite(busiest) and busiest > 0, "busiest", busiest, "must be more than 0 seconds")
        require(window is None, "busiest", busiest, "must not be given beside a window")
    require(max_gpus is None or max_gpus >= 1, "max_gpus", max_gpus, "must be at least 1")
    require(sample is None or sample >= 1, "sample", sample, "must be at least 1")


def _busiest(release_dates: Sequence[float], length: float) -> float:
    """Return the beginning of the busiest period of a given length, for ascending release dates."""
    return max(
        release_dates,
        key=lambda date: bisect_left(release_dates, date + length) - bisect_left(release_dates, date),
    )


def _distinct(entries: Iterable[Entry], issues: list[Issue]) -> list[Entry]:
    """Return the first entry of each job name, and report the others."""
    first: dict[str, Entry] = {}
    for entry in entries:
        row, job = entry
        earlier = first.setdefault(job.name, entry)
        if earlier is not entry:
            reason = f"job {shorten(job.name)} is in row {earlier[0].line} of {earlier[0].file} already"
            issues.append(row.issue(reason))
    return list(first.values())


def _sorted(entries: list[Entry], issues: list[Issue]) -> list[Entry]:
    late = [
        row
        for (before, above), (row, job) in pairwise(entries)
        if job.release_date < above.release_date and row.file == before.file
    ]
    if late:
        reason = f"is released before the row above it, the first of {len(late):,} such rows; all were sorted"
        issues.append(late[0].issue(reason, repaired=True))
    return sorted(entries, key=lambda entry: entry[1].release_date)


def _at_most(max_gpus: int, entries: list[Entry], issues: list[Issue], *, cap: bool) -> list[Entry]:
    kept: list[Entry] = []
    for row, job in entries:
        capped = _capped(job, max_gpus) if cap or job.gpus <= max_gpus else None
        if job.gpus > max_gpus:
            done = f"; capped at {capped.gpus}" if capped else ""
            reason = f"demands {job.gpus} GPUs, more than max_gpus {max_gpus}{done}"
            issues.append(row.issue(reason, repaired=capped is not None))
        if capped:
            kept.append((row, capped))
    return kept


def _capped(job: Job, max_gpus: int) -> Job | None:
    """Return the job with GPU counts up to a limit, or None if it cannot run on any of them."""
    if job.counts[-1] <= max_gpus:
        return job
    if not job.menu:
        return job.model_copy(update={"gpus": max_gpus})
    allowed = [count for count in job.counts if count <= max_gpus]
    if not allowed:
        return None
    gpus = min(job.gpus, allowed[-1])
    speed = job.speed(gpus)
    menu = tuple((count, job.speed(count) / speed) for count in allowed)
    return job.model_copy(update={"gpus": gpus, "duration": job.duration / speed, "menu": menu})
