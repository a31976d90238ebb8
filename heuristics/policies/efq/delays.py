"""Delays: how much later jobs complete than under a fair share, and bounds such as Ares' Theorem 1."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, get_args

from gsopt.core.errors import Unsupported, require_one_of
from gsopt.core.numbers.clock import clock_error
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import efficient_counts
from gsopt.schedule import Schedule
from gsopt.schedule.fairness import gps_finish_times
from gsopt.schedule.judge import judged

#: The bound on the delay compared with generalized processor sharing (GPS): the printed theorem, or a bound
#: that holds if jobs may use all GPUs (``uncapped``) or in general (``capped``).
Theorem = Literal["paper", "uncapped", "capped"]

#: When the cluster is busy: while all GPUs are held, jobs are present, or jobs are present under GPS.
BusyPeriod = Literal["GPUs", "jobs", "GPS"]


def longest_busy_period(
    schedule: Schedule, scenario: Scenario, busy: BusyPeriod = "jobs", *, exact: bool = False
) -> Any:
    """Return the length of a schedule's longest busy period, in seconds.

    Parameters
    ----------
    schedule, scenario
        The schedule, and its scenario.
    busy
        When the cluster counts as busy. In the paper's text, it is busy while all GPUs are held ("GPUs"). The
        proof needs longer busy periods: while jobs are present ("jobs"), or while jobs are present under
        generalized processor sharing ("GPS").
    exact
        Whether to compute in fractions instead of floats.

    Raises
    ------
    InvalidInput
        The kind of busy period is unknown.
    """
    require_one_of("busy", busy, get_args(BusyPeriod))
    number: Callable[[Any], Any] = Fraction if exact else float
    workload, gpus = scenario.workload, scenario.cluster.gpus
    if busy == "GPUs":
        spans = _spans_of_full_use(schedule, gpus, number)
    else:
        releases = [number(job.release_date) for job in workload.jobs]
        if busy == "GPS":
            ends = gps_finish_times(workload, gpus, exact=exact)
        else:
            segments = sorted(schedule.segments, key=lambda segment: segment.end)
            last = {segment.job: number(segment.end) for segment in segments}
            ends = [last[job.name] for job in workload.jobs]
        spans = list(zip(releases, ends, strict=True))
    return _longest_union(spans, number(0))


def _spans_of_full_use(schedule: Schedule, gpus: int, number: Callable[[Any], Any]) -> list[tuple[Any, Any]]:
    changes: dict[Any, int] = {}
    for segment in schedule.segments:
        for time, change in ((segment.start, segment.gpus), (segment.end, -segment.gpus)):
            changes[number(time)] = changes.get(number(time), 0) + change
    spans, held = [], 0
    for start, end in pairwise(sorted(changes)):
        held += changes[start]
        if held == gpus:
            spans.append((start, end))
    return spans


def _longest_union(spans: Iterable[tuple[Any, Any]], longest: Any) -> Any:
    """Return the length of the longest interval that the spans cover without a gap."""
    begin = until = None
    for start, end in sorted(spans):
        if until is None or start > until:
            begin = until = start
        until = max(until, end)
        longest = max(longest, until - begin)
    return longest


@dataclass(frozen=True)
class LateJob:
    """A job whose delay exceeds its bound, with both in seconds."""

    job: str
    delay: Any
    bound: Any


@dataclass(frozen=True)
class DelayReport:
    """The delays of jobs compared with a fair share, and the bounds of a theorem.

    Attributes
    ----------
    kind
        The theorem.
    busy_period
        Length of the longest busy period, in seconds.
    bounds
        Largest delay that the theorem allows each job, in seconds, in the order of the jobs.
    delays
        Completion time minus completion time under the fair share, in seconds, in the order of the jobs;
        negative for early jobs.
    violations
        The jobs that exceed their bounds.
    """

    kind: Theorem
    busy_period: Any
    bounds: tuple[Any, ...]
    delays: tuple[Any, ...]
    violations: tuple[LateJob, ...]

    @property
    def worst_delay(self) -> Any:
        """The largest delay in seconds, or None if there are no jobs."""
        return max(self.delays, default=None)


def delay_bound(
    scenario: Scenario,
    busy_period: Any,
    *,
    alpha: float | Fraction = 0.75,
    kind: Theorem = "paper",
    exact: bool = False,
) -> tuple[Any, ...]:
    """Return an upper bound, in seconds, on each job's delay under elastic fair queuing.

    The delay is relative to the completion time under the fair share. A job may use only its allowed counts,
    i.e. the numbers of GPUs on which it runs efficiently (`gsopt.scenario.speed.efficient_counts`). Let B be
    the longest busy period, and let decisions be made at every event, without overhead:

    * "paper": (1/alpha - 1) B. Source: Ares, Theorem 1. It is **false** in general: counterexamples are one job
      that may use only one of two GPUs, and linear jobs on 3 GPUs at alpha = 1.
    * "uncapped": (1 - alpha) B, if every job may use all GPUs, where B is the length of the longest period with
      jobs present. The jobs then run one at a time, in order of virtual finish time, at an efficiency of at
      least alpha; under the fair share, the efficiency of all GPUs together is at most 1.
    * "capped": (1/(alpha c) - 1) B + (1 - 1/M) L/(alpha c) + the job's running time on its largest allowed
      number of GPUs. Here, M is the number of GPUs, L is the largest GPU time of any job on its demanded GPUs,
      and c = min(1/r, (M - d + 1) / M), where d is the largest demand and r is the largest ratio of consecutive
      allowed counts, but at least 2. This bound is loose.

    Parameters
    ----------
    scenario
        The scenario.
    busy_period
        B, in seconds; see `longest_busy_period`.
    alpha
        The threshold of elastic fair queuing.
    kind
        The theorem.
    exact
        Whether to compute in fractions instead of floats.

    Raises
    ------
    InvalidInput
        `alpha` is not a number above 0 and at most 1, or the theorem is unknown.
    Unsupported
        The theorem is "uncapped", and some job may not use all GPUs.
    """
    require_one_of("kind", kind, get_args(Theorem))
    number: Callable[[Any], Any] = Fraction if exact else float
    jobs, gpus, one = scenario.workload.jobs, scenario.cluster.gpus, number(1)
    allowed = [tuple(k for k in efficient_counts(job, alpha) if k <= gpus) for job in jobs]
    efficiency, period = number(alpha), number(busy_period)
    if kind == "paper":
        return tuple((1 / efficiency - 1) * period for _ in jobs)
    if kind == "uncapped":
        for job, counts in zip(jobs, allowed, strict=True):
            if counts[-1] != gpus:
                raise Unsupported(f"job {job.name!r} may not use all {gpus} GPUs, as the theorem requires")
        return tuple((1 - efficiency) * period for _ in jobs)
    if not jobs:
        return ()
    ratio = max([2 * one, *(one * late / early for counts in allowed for early, late in pairwise(counts))])
    in_use = efficiency * min(1 / ratio, one * (gpus - max(job.gpus for job in jobs) + 1) / gpus)
    largest = max(number(job.duration) * job.gpus for job in jobs)
    common = (1 / in_use - 1) * period + (1 - one / gpus) * largest / in_use
    alone = [
        number(job.duration) / number(job.speed(counts[-1])) for job, counts in zip(jobs, allowed, strict=True)
    ]
    return tuple(common + seconds for seconds in alone)


def delay_report(
    schedule: Schedule,
    scenario: Scenario,
    *,
    alpha: float | Fraction = 0.75,
    kind: Theorem = "paper",
    busy: BusyPeriod = "jobs",
    fair_times: Sequence[Any] | None = None,
    exact: bool = False,
) -> DelayReport:
    """Compare the delays of a schedule with the bounds of a theorem on elastic fair queuing.

    Parameters
    ----------
    schedule, scenario
        The schedule, which must not violate any rule, and its scenario.
    alpha, kind
        See `delay_bound`.
    busy
        The kind of busy period for the paper's theorem (see `longest_busy_period`). The other theorems use
        "jobs".
    fair_times
        Completion times under the fair share, on the scenario's own clock; computed by `gps_finish_times` if
        None.
    exact
        Whether to compute in fractions. Otherwise, floats are used, and their rounding errors are tolerated.

    Raises
    ------
    InvalidSolution
        The schedule violates a rule.
    InvalidInput, Unsupported
        As for `delay_bound`.
    """
    completions = judged(schedule, scenario, exact=exact).ends
    rounded_on = float(schedule.rounded_on(scenario.clock).origin)
    schedule, scenario = schedule.timed(scenario.clock.since), scenario.on_own_clock()
    if fair_times is None:
        fair_times = gps_finish_times(scenario.workload, scenario.cluster.gpus, exact=exact)
    period = longest_busy_period(schedule, scenario, busy if kind == "paper" else "jobs", exact=exact)
    bounds = delay_bound(scenario, period, alpha=alpha, kind=kind, exact=exact)
    delays = tuple(time - reference for time, reference in zip(completions, fair_times, strict=True))
    jobs = scenario.workload.jobs
    late = tuple(
        LateJob(job.name, delay, bound)
        for job, time, delay, bound in zip(jobs, completions, delays, bounds, strict=True)
        if delay > bound + (0 if exact else clock_error(rounded_on + time, time - jobs[0].release_date))
    )
    return DelayReport(kind, period, bounds, delays, late)
