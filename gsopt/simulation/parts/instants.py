"""Instants: the multiples of an interval, at which a policy decides."""

from math import floor
from typing import Any

from gsopt.simulation.interval import require_interval


class Instants:
    """The multiples of an interval on the clock of the run.

    If decisions are made in rounds of another length, the first round at or after a requested instant counts as
    this instant. As with `gsopt.simulation.Wake`, a request is valid only until the next decision and must
    then be repeated. `field` is the name of the interval in error messages.
    """

    def __init__(self, interval: float, field: str = "interval") -> None:
        require_interval(field, interval)
        self._interval = interval
        self._asked: Any = None

    def reached(self, now: Any, excused: float = 0) -> bool:
        """Check whether `now` is an instant or has reached the requested one, and drop the request.

        To allow for rounding, a time at most `excused` seconds after a multiple counts as this multiple.
        """
        waited = self._asked is not None and now >= self._asked
        self._asked = None
        length = type(now)(self._interval)
        return bool(waited or 0 <= now - round(now / length) * length <= excused)

    def after(self, now: Any) -> Any:
        """Return the first multiple of the interval after the given time."""
        length = type(now)(self._interval)
        number = floor(now / length)
        while number * length <= now:
            number += 1
        return number * length

    def ask(self, now: Any) -> Any:
        """Request the first multiple of the interval after `now`, and return it, for use in a `Wake`."""
        self._asked = self.after(now)
        return self._asked
