"""Benefit: the gain of each job from starting on shared GPUs instead of waiting for free ones."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from gsopt.core.errors import Unsupported
from gsopt.core.numbers.clock import clock_error
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.course import ProgressOfJobs
from gsopt.schedule.schedule import Schedule


def sharing_benefits(schedule: Schedule, scenario: Scenario) -> Mapping[str, float]:
    """Return the sharing benefit of every job that starts on GPUs in use, keyed by job name.

    The benefit is the job completion time (counted from release) that the job would have had if it had waited
    for enough free GPUs, divided by its job completion time with sharing. Both assume that no further jobs
    arrive. A benefit above 1 means that sharing was the right decision for this job. Jobs must be rigid and
    must stay on the same GPUs from start to end. The GPUs must be given by index.

    Source: Castor, section 9.2, Eq. 24.

    Raises
    ------
    Unsupported
        A job is elastic or adaptive, has phases, was interrupted or moved, or runs in another mode than its
        default one or on GPUs without indices; or the scenario has a plain cluster, overheads, network
        penalties, slower GPU types, or slowdowns of groups.
    """
    jobs = scenario.workload.jobs
    _check(schedule, scenario)

    @cache
    def slowdown(job: int, other: int) -> Exact:
        return decimal(scenario.speed.interference_of(jobs[job], jobs[other]))

    numbers = {job.name: number for number, job in enumerate(jobs)}
    first = Fraction(min((segment.start for segment in schedule.segments), default=0))
    course = ProgressOfJobs([Fraction(job.duration) for job in jobs], slowdown, [first])
    found: dict[str, float] = {}
    ends: dict[int, Exact] = {}  # of the running jobs, if no further jobs come
    for segment in sorted(schedule.segments, key=lambda each: (each.start, numbers[each.job])):
        _pass_until(course, segment.start)
        number = numbers[segment.job]
        shares = any(gpu in course.users for gpu in segment.placement)
        free = _free_from(course, ends, segment.gpus, scenario.cluster.gpus) if shares else course.now
        course.start(number, segment.placement)
        ends |= _ends_beside(course, number)
        if shares:
            release, alone = Fraction(jobs[number].release_date), Fraction(jobs[number].duration)
            found[segment.job] = float((free + alone - release) / (ends[number] - release))
    return found


def _check(schedule: Schedule, scenario: Scenario) -> None:
    for job in scenario.workload.jobs:
        if len(job.counts) > 1 or job.phases or scenario.application(job) is not None:
            rule = "sharing benefits of jobs that are elastic or adaptive or have phases"
            raise Unsupported(f"{rule}, such as {job.name!r}")
    names = [segment.job for segment in schedule.segments]
    if len(set(names)) < len(names):
        raise Unsupported("sharing benefits of jobs that were interrupted or moved")
    speed = scenario.speed
    if speed.tiers or speed.knows_types or scenario.overheads or scenario.cluster.is_plain:
        rule = "sharing benefits with network penalties, slower GPU types or overheads, or on a plain cluster"
        raise Unsupported(rule)
    if speed.groups:
        raise Unsupported("sharing benefits with slowdowns of groups")
    if any(segment.mode or not segment.placement for segment in schedule.segments):
        raise Unsupported("sharing benefits of jobs in modes or without named GPUs")


def _pass_until(course: ProgressOfJobs, time: float) -> None:
    """Advance to a time, and end jobs that are still running only because of rounding."""
    course.pass_until(max(course.now, Fraction(time)))
    while (end := course.next_event) is not None and end - course.now <= clock_error(float(time), 0):
        course.pass_until(end)


def _free_from(course: ProgressOfJobs, ends: Mapping[int, Exact], demand: int, gpus: int) -> Exact:
    """Return the time at which enough GPUs for a job are free, assuming that no further jobs arrive."""
    until = sorted(max(ends[user] for user in users) for users in course.users.values())
    missing = demand - (gpus - len(until))
    return until[missing - 1] if missing > 0 else course.now


def _ends_beside(course: ProgressOfJobs, number: int) -> dict[int, Exact]:
    """Return the end times of a started job and of all jobs linked to it, directly or not, by shared GPUs."""
    met, new = {number}, {number}
    while new:
        new = {partner for job in new for partner in course.partners(job)} - met
        met |= new
    ahead = course.copy()
    ahead.due = {job: due for job, due in course.due.items() if job in met}
    while (end := ahead.next_event) is not None:
        ahead.pass_until(end)
    return {job: ahead.ends[job] for job in met}
