"""Estimates: the running times that users predict, and the expected ends of running jobs."""

from collections.abc import Callable
from random import Random
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.simulation import State

_LARGEST_FACTOR = 1e6

#: Extensions of a late job's estimate in seconds, tried in this order: 1 minute, 5 minutes, ..., 100 hours.
_EXTENSIONS = tuple(60.0 * minutes for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))


def checked_factor(factor: float) -> float:
    """Return the factor by which estimates may exceed durations; raise `InvalidInput` if it is out of range."""
    if not (isinstance(factor, int | float) and 1 <= factor <= _LARGEST_FACTOR):
        raise InvalidInput("overestimate", shorten(factor), "must be a number from 1 to 1e6")
    return factor


def user_estimates(state: State, factor: float, seed: int) -> Callable[[int], Any]:
    """Return a function that returns the estimate of a job in seconds.

    A job without its own estimate gets its duration multiplied by a number drawn uniformly between 1 and
    `factor`. This number depends only on the seed and the index of the job.
    """
    checked_factor(factor)
    number = type(state.now)

    def estimate(job: int) -> Any:
        item = state.jobs[job]
        if item.estimate is not None:
            return number(item.estimate)
        return number(item.duration * Random(f"{seed} {job}").uniform(1, factor))

    return estimate


def late_end(end: Any, now: Any) -> Any:
    """Return the new expected end of a job that was expected to end by now.

    The estimate is extended by 1 minute or, if that is not enough, by 5, 15 or 30 minutes, or by 1, 2, 5, 10,
    20, 50 or 100 hours. If even 100 hours are too few, the extension is doubled until it is long enough; the
    source does not cover this case.

    Source: Tsafrir, Etsion and Feitelson, "Backfilling using system-generated predictions rather than user
    runtime estimates" (2007), section 3.3.
    """
    number = type(now)
    for extension in _EXTENSIONS:
        if (later := end + number(extension)) > now:
            return later
    extension = 2 * number(_EXTENSIONS[-1])
    while end + extension <= now:
        extension *= 2
    return end + extension
