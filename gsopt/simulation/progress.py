"""Progress: how work goes down while a job runs at one speed, through its phases.

A phase slows its share of the work down, so a job's speed depends on its progress: it is constant between the
points at which phases end. They are crossed by arithmetic, not by events.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gsopt.scenario.job import Job


class Stretch(NamedTuple):
    """Work that is done at one slowdown: until so much of all the job's work is left."""

    until_left: Any
    slowdown: Any


def stretches(job: Job, mode: str, number: Callable[[Any], Any]) -> tuple[Stretch, ...]:
    """Return the phases of a job in a mode by the work that is left at their ends; none without phases.

    Examples
    --------
    >>> from gsopt.scenario.job import Phase
    >>> phases = [Phase(until=0.25, slowdown=2), Phase(until=1)]
    >>> job = Job(name="a", release_date=0, duration=8, gpus=1, phases=phases)
    >>> [tuple(stretch) for stretch in stretches(job, "", float)]
    [(6.0, 2.0), (0.0, 1.0)]
    """
    work = number(job.duration)
    return tuple(
        Stretch(work - work * number(phase.until), number(phase.slowdown_in(mode))) for phase in job.phases
    )


def slowdown_at(left: Any, course: Sequence[Stretch]) -> Any:
    """Return the slowdown of a job of which so much work is left; 1 without phases.

    Examples
    --------
    >>> [slowdown_at(left, [Stretch(6, 2), Stretch(0, 1)]) for left in (8, 6)]
    [2, 1]
    """
    return next((slowdown for until, slowdown in course if left > until), 1)


def seconds_for(left: Any, rate: Any, course: Sequence[Stretch]) -> Any:
    """Return the time in which what is left is done, at a rate that the phases slow down.

    Examples
    --------
    >>> seconds_for(8, 1, [Stretch(6, 2), Stretch(0, 1)]), seconds_for(8, 2, [])
    (10, 4.0)
    """
    if not course:
        return left if rate == 1 else left / rate
    seconds = left - left
    for until, slowdown in course:
        if left > until:
            work = (left - until) * slowdown
            seconds += work if rate == 1 else work / rate
            left = until
    return seconds


def left_after(seconds: Any, left: Any, rate: Any, course: Sequence[Stretch]) -> Any:
    """Return the work that is left after some time, never below 0.

    Examples
    --------
    >>> [left_after(seconds, 8, 1, [Stretch(6, 2), Stretch(0, 1)]) for seconds in (2, 4, 5, 11)]
    [7.0, 6.0, 5.0, 0]
    """
    for until, slowdown in course:
        if left > until:
            needed = (left - until) * slowdown / rate
            if seconds < needed:
                return left - seconds * rate / slowdown
            seconds -= needed
            left = until
    return max(left - seconds * rate, left - left)
