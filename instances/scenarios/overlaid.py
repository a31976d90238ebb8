"""Overlaid: workloads like Aryl's with a given load, generated or combined from two windows of a trace."""

from collections.abc import Sequence
from math import fsum
from random import Random
from typing import NamedTuple

from gsopt.core.errors import require
from gsopt.scenario.job import LATEST, LEAST, Job, Workload
from instances.arguments import at_least
from instances.traces.inference import DAY
from instances.workloads.distributions import ITP, JobDistribution

#: Jobs per day and server in the paper: 50,390 in 15 days on 443 servers. Source: Aryl, section 7.1.
JOBS_PER_SERVER_DAY = 50_390 / (15 * 443)

#: Days of the public ITP trace on which the windows begin; together they have about as many jobs as the paper.
FIRST_DAYS = (11, 16)

#: Submitted GPU time divided by available GPU time. At this load, jobs wait about as long as in the paper under
#: FIFO, if each worker needs a single machine.
LOAD = 0.91

#: Jobs with more than this share of the GPUs are left out. Source: Aryl, section 7.5.
_LARGEST_SHARE = 0.5

#: Smallest and largest allowed load.
_LEAST_LOAD, _MOST_LOAD = 1e-3, 1e3

#: Largest number of jobs, 20 times as many as in the paper.
_MOST_JOBS = 1_000_000

#: Generated jobs arrive in bursts: the rate in each quarter of a day is log-normal, with this deviation.
_BURST, _BURSTS_A_DAY = 0.5, 4


class _Drawn(NamedTuple):
    """A drawn job: its name, release date, duration and GPUs."""

    name: str
    release_date: float
    duration: float
    gpus: int


def overlaid_workload(
    trace: Workload,
    *,
    days: float = 15.0,
    gpus: int = 3544,
    jobs: int | None = None,
    load: float | None = LOAD,
    first_days: tuple[int, int] = FIRST_DAYS,
    shortest: float = LEAST,
    longest: float = LATEST,
    seed: int = 0,
) -> Workload:
    """Overlay two windows of a trace, and stretch all durations to reach a given load.

    Two windows are needed because even the busiest 15 days of the public ITP trace have only half as many jobs
    as Aryl's trace. If the windows overlap, some jobs occur twice, days apart, under two names. Jobs that
    demand more than half of the GPUs are left out.

    Parameters
    ----------
    trace, days, gpus
        The jobs of the trace, the length of the windows in days, and the number of GPUs of the cluster.
    jobs
        Number of jobs, drawn at random from the windows; if they contain fewer, all are kept. By default, the
        number per GPU and day is that of the paper.
    load
        Submitted GPU time divided by available GPU time. All durations are scaled by one factor to reach this
        load. None for the recorded durations.
    first_days
        Day of the trace, counted from 0, on which each window begins.
    shortest, longest
        Limits in seconds. Before scaling, recorded durations outside the limits are set to the nearer limit.
    seed
        Seed of all random draws.
    """
    _check(days, gpus, jobs, load, shortest, longest)
    require(min(first_days) >= 0, "first_days", first_days, "must be at least 0")
    kept = [
        _Drawn(f"{part}-{job.name}", job.release_date - first * DAY, job.duration, job.gpus)
        for part, first in zip("ab", first_days, strict=True)
        for job in trace.jobs
        if first * DAY <= job.release_date < (first + days) * DAY and job.gpus <= gpus * _LARGEST_SHARE
    ]
    number = _number(days, gpus, jobs)
    if number < len(kept):
        kept = Random(seed).sample(kept, number)
    source = (
        f"two windows of {days:g} days, from days {first_days[0]} and {first_days[1]} on, of {trace.source}"
    )
    return _stretched(kept, source, days, gpus, load, (shortest, longest), seed)


def made_up_workload(
    *,
    days: float = 15.0,
    gpus: int = 3544,
    jobs: int | None = None,
    load: float | None = LOAD,
    shortest: float = LEAST,
    longest: float = LATEST,
    seed: int = 0,
    shape: JobDistribution = ITP,
) -> Workload:
    """Generate a workload with a given load, whose jobs are drawn from `shape` and arrive in bursts.

    The other options are as in `overlaid_workload`, but there are always as many jobs as requested.
    """
    _check(days, gpus, jobs, load, shortest, longest)
    random = Random(seed)
    most = max(1, int(gpus * _LARGEST_SHARE))
    drawn = list(shape.draw(_number(days, gpus, jobs), most, random))
    dates = _bursts(len(drawn), days, random)
    made = [
        _Drawn(f"j{number}", date, duration, demand)
        for number, (date, (demand, duration)) in enumerate(zip(dates, drawn, strict=True), start=1)
    ]
    source = f"made up over {days:g} days, shaped like: {shape.source}"
    return _stretched(made, source, days, gpus, load, (shortest, longest), seed)


def _check(
    days: float, gpus: int, jobs: int | None, load: float | None, shortest: float, longest: float
) -> None:
    at_least(1, gpus=gpus)
    require(0 < days <= 31, "days", days, "must be more than 0 and at most 31")  # noqa: PLR2004
    rule = f"must be at least 1 and at most {_MOST_JOBS:,}"
    require(jobs is None or 1 <= jobs <= _MOST_JOBS, "jobs", jobs, rule)
    fine = load is None or _LEAST_LOAD <= load <= _MOST_LOAD
    require(fine, "load", load, f"must be between {_LEAST_LOAD:g} and {_MOST_LOAD:g}")
    require(LEAST <= longest <= LATEST, "longest", longest, f"must be between {LEAST:g} and {LATEST:g}")
    fine = LEAST <= shortest <= longest
    require(fine, "shortest", shortest, f"must be more than 0 and at most longest, {longest:g} s")


def _number(days: float, gpus: int, jobs: int | None) -> int:
    return max(1, round(JOBS_PER_SERVER_DAY * days * gpus / 8)) if jobs is None else jobs


def _bursts(number: int, days: float, random: Random) -> list[float]:
    """Draw arrival times, with a separate rate for each quarter of a day."""
    quarters = max(1, round(days * _BURSTS_A_DAY))
    rates = [random.lognormvariate(0, _BURST) for _ in range(quarters)]
    length = days * DAY / quarters
    chosen = random.choices(range(quarters), rates, k=number)
    return sorted(round((quarter + random.random()) * length, 3) for quarter in chosen)


def _stretched(
    given: Sequence[_Drawn],
    source: str,
    days: float,
    gpus: int,
    load: float | None,
    limits: tuple[float, float],
    seed: int,
) -> Workload:
    require(bool(given), "jobs", 0, "must be at least 1; no job of the windows demands so few GPUs")
    durations = [min(max(job.duration, limits[0]), limits[1]) for job in given]
    submitted = fsum(duration * job.gpus for duration, job in zip(durations, given, strict=True))
    factor = 1.0 if load is None else load * gpus * days * DAY / submitted
    how = "as recorded" if load is None else f"stretched by {factor:.4g} to load {load:g} of {gpus} GPUs"
    return Workload(
        name=f"overlaid-{len(given)}",
        source=f"{len(given)} jobs: {source}; durations {how}; seed {seed}",
        jobs=tuple(
            Job(name=job.name, release_date=job.release_date, duration=duration * factor, gpus=job.gpus)
            for job, duration in zip(given, durations, strict=True)
        ),
    )
