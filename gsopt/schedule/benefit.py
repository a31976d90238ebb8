"""Benefit: what each decision of a schedule to share GPUs was worth to the job that came."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from gsopt.clock import clock_error
from gsopt.errors import Unsupported
from gsopt.grid import Exact, decimal
from gsopt.scenario import Scenario
from gsopt.schedule.course import Course
from gsopt.schedule.schedule import Schedule, Segment


def sharing_benefits(schedule: Schedule, scenario: Scenario) -> Mapping[str, float]:
    """Give the sharing benefit of every job that starts beside others, by name.

    It is the completion time of the job if it had waited until there were enough free GPUs, over that which it
    has beside the others; in both cases as if no more jobs came. Above 1 it was right, for this job, to share.

    Source: Castor, section 9.2, Eq. 24.

    Parameters
    ----------
    schedule
        What ran: every job from its start to its end on the same GPUs.
    scenario
        What was given: rigid jobs, on a cluster of racks without penalties of the network or overheads.

    Raises
    ------
    Unsupported
        A job was interrupted or moved, or something else than its partners sets its speed.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.speed import Speed
    >>> jobs = [Job(name=name, release_date=0, duration=d, gpus=1) for name, d in [("a", 4), ("b", 1)]]
    >>> scenario = Scenario(
    ...     workload=Workload(jobs=jobs),
    ...     cluster=Cluster.uniform(machines=1, gpus=1),
    ...     share_limit=2,
    ...     speed=Speed(default_interference=2.0),
    ... )
    >>> sharing_benefits(Schedule((Segment("a", 0, 5, 1, (0,)), Segment("b", 0, 2, 1, (0,)))), scenario)
    {'b': 2.5}
    """
    jobs = scenario.workload.jobs
    _check(schedule, scenario)

    @cache
    def slowdown(job: int, other: int) -> Exact:
        return decimal(scenario.speed.interference_of(jobs[job], jobs[other]))

    numbers = {job.name: number for number, job in enumerate(jobs)}
    first = Fraction(min((segment.start for segment in schedule.segments), default=0))
    course = Course([Fraction(job.duration) for job in jobs], slowdown, [first])
    found: dict[str, float] = {}
    for segment in sorted(schedule.segments, key=lambda each: (each.start, numbers[each.job])):
        _pass_until(course, segment.start)
        number = numbers[segment.job]
        if any(gpu in course.users for gpu in segment.placement):
            release = Fraction(jobs[number].release_date)
            waiting = _end_alone(course, segment, scenario.cluster.gpus) + Fraction(jobs[number].duration)
            found[segment.job] = float((waiting - release) / (_end_beside(course, number, segment) - release))
        course.start(number, segment.placement)
    return found


def _check(schedule: Schedule, scenario: Scenario) -> None:
    names = [segment.job for segment in schedule.segments]
    if len(set(names)) < len(names):
        raise Unsupported("sharing benefits of jobs that were interrupted or moved")
    if scenario.speed.tiers or scenario.overheads or scenario.cluster.is_plain:
        raise Unsupported("sharing benefits with network penalties or overheads, or on a plain cluster")
    if any(segment.mode or not segment.placement for segment in schedule.segments):
        raise Unsupported("sharing benefits of jobs in modes or without named GPUs")


def _pass_until(course: Course, time: float) -> None:
    """Let time pass, and let jobs end that only rounding keeps beyond it."""
    course.pass_until(max(course.now, Fraction(time)))
    while (end := course.next_event) is not None and end - course.now <= clock_error(float(time), 0):
        course.pass_until(end)


def _end_alone(course: Course, segment: Segment, gpus: int) -> Exact:
    """Give when as many GPUs are free as a job needs, if it waits and nobody else comes."""
    alone = course.copy()
    while gpus - len(alone.users) < segment.gpus and (end := alone.next_event) is not None:
        alone.pass_until(end)
    return alone.now


def _end_beside(course: Course, number: int, segment: Segment) -> Exact:
    """Give when a job ends that starts now on its GPUs, if nobody else comes."""
    beside = course.copy()
    beside.start(number, segment.placement)
    while number not in beside.ends and (end := beside.next_event) is not None:
        beside.pass_until(end)
    return beside.ends[number]
