"""Estimates: how long users say that their jobs run, and when a running job is expected to end."""

from collections.abc import Callable
from random import Random
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.simulation import State

_LARGEST_FACTOR = 1e6

#: Seconds after its estimate when a late job is expected to end: a minute, and if that is over, 5, ..., 100 h.
_EXTENSIONS = tuple(60.0 * minutes for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))


def checked_factor(factor: float) -> float:
    """Return the largest factor of drawn estimates, or raise `InvalidInput` if it is out of range."""
    if not (isinstance(factor, int | float) and 1 <= factor <= _LARGEST_FACTOR):
        raise InvalidInput("overestimate", shorten(factor), "must be a number from 1 to 1e6")
    return factor


def user_estimates(state: State, factor: float, seed: int) -> Callable[[int], Any]:
    """Return a function that returns the estimate of a job, in seconds.

    A job without an estimate of its own gets its duration, times a number drawn uniformly from 1 to `factor`.
    The number depends on the seed and the number of the job alone.
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
    """Return when a job is expected to end that should have ended before, or just now.

    The estimate is extended by a minute; if that is over as well, by 5, 15 and 30 minutes, then by 1, 2, 5, 10,
    20, 50 and 100 hours. After that, the extension doubles, which the source does not say.

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
