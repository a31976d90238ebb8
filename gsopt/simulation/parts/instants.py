"""Instants: the multiples of an interval, at which something is decided."""

from math import floor
from typing import Any

from gsopt.simulation.interval import require_interval


class Instants:
    """The multiples of an interval, from where the clock of the run begins.

    Where decisions come in rounds of another length, an instant is that of the first round after it, for those
    who wait for it. A wait ends with the next decision, which asks again where it still waits: as for
    `gsopt.simulation.Wake`, so that nobody takes a time at which he no longer waits for an instant.
    """

    def __init__(self, interval: float, field: str = "interval") -> None:
        require_interval(field, interval)
        self._interval = interval
        self._asked: Any = None

    def reached(self, now: Any, excused: float = 0) -> bool:
        """Check whether it is time, at a multiple or where one that was waited for has passed; end the wait.

        So many seconds after a multiple are excused: what happens then was to happen at it, but for rounding.
        """
        waited = self._asked is not None and now >= self._asked
        self._asked = None
        length = type(now)(self._interval)
        return bool(waited or 0 <= now - round(now / length) * length <= excused)

    def after(self, now: Any) -> Any:
        """Return the first multiple after a time."""
        length = type(now)(self._interval)
        number = floor(now / length)
        while number * length <= now:
            number += 1
        return number * length

    def ask(self, now: Any) -> Any:
        """Wait for the first multiple after a time, and give it."""
        self._asked = self.after(now)
        return self._asked
