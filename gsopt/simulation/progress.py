"""Progress: the remaining work of a job, whose speed varies from phase to phase.

A phase slows down the part of the work that it covers, so a job's speed depends on its progress and is
constant within a phase. The ends of phases are computed directly; they are not events.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gsopt.scenario.job import Job


class Stretch(NamedTuple):
    """A phase with its slowdown, and with the amount of the job's work that remains at its end."""

    until_left: Any
    slowdown: Any


def stretches(job: Job, mode: str, number: Callable[[Any], Any]) -> tuple[Stretch, ...]:
    """Return the phases of a job in the given mode, each with the work that remains at its end.

    The tuple is empty if the job has no phases.
    """
    work = number(job.duration)
    return tuple(
        Stretch(work - work * number(phase.until), number(phase.slowdown_in(mode))) for phase in job.phases
    )


def slowdown_at(left: Any, course: Sequence[Stretch]) -> Any:
    """Return the slowdown in the current phase of a job, given its remaining work; 1 without phases."""
    return next((slowdown for until, slowdown in course if left > until), 1)


def seconds_for(left: Any, rate: Any, course: Sequence[Stretch]) -> Any:
    """Return the time in seconds that the remaining work takes at a rate that phases slow down."""
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
    """Return the work that remains after the given number of seconds; it is never negative."""
    for until, slowdown in course:
        if left > until:
            needed = (left - until) * slowdown / rate
            if seconds < needed:
                return left - seconds * rate / slowdown
            seconds -= needed
            left = until
    return max(left - seconds * rate, left - left)
