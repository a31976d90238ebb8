"""Progress: the remaining work of a job that runs at one speed through its phases.

A phase slows down its share of the work, so a job's speed depends on its progress and is constant within a
phase. The ends of phases are computed, and are not events.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gsopt.scenario.job import Job


class Stretch(NamedTuple):
    """A part of the work with one slowdown, which ends when a given amount of the job's work remains."""

    until_left: Any
    slowdown: Any


def stretches(job: Job, mode: str, number: Callable[[Any], Any]) -> tuple[Stretch, ...]:
    """Return the phases of a job in a mode, each with the work that remains at its end.

    The tuple is empty without phases.
    """
    work = number(job.duration)
    return tuple(
        Stretch(work - work * number(phase.until), number(phase.slowdown_in(mode))) for phase in job.phases
    )


def slowdown_at(left: Any, course: Sequence[Stretch]) -> Any:
    """Return the slowdown of a job, given its remaining work, or 1 without phases."""
    return next((slowdown for until, slowdown in course if left > until), 1)


def seconds_for(left: Any, rate: Any, course: Sequence[Stretch]) -> Any:
    """Return the seconds that the remaining work takes at a rate that the phases slow down."""
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
    """Return the remaining work after some seconds, never below 0."""
    for until, slowdown in course:
        if left > until:
            needed = (left - until) * slowdown / rate
            if seconds < needed:
                return left - seconds * rate / slowdown
            seconds -= needed
            left = until
    return max(left - seconds * rate, left - left)
