"""Clock: times counted from an origin, and the rounding error of times given as floats."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, ulp
from typing import Any

from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.numbers.tolerances import CLOCK_TICKS, SPAN_ERROR


def clock_error(time: Any, seconds: Any) -> float:
    """Return the largest rounding error, in seconds, to expect in a duration that ends at a given time.

    It is eight units in the last place of the time, plus a billionth of the duration.

    Examples
    --------
    >>> f"{clock_error(10.0, 10.0):.0e}", f"{clock_error(1.7e9, 10.0):.0e}"
    ('1e-08', '2e-06')
    """
    return CLOCK_TICKS * ulp(float(time)) + SPAN_ERROR * float(seconds)


@dataclass(frozen=True)
class Clock:
    """A clock that counts seconds from an origin, so that times far from zero lose no digits.

    A float stands for its shortest decimal: the float 0.1 is read as exactly 1/10.

    Examples
    --------
    >>> clock = Clock(1_700_000_000)
    >>> clock.since(1_700_000_000.3), clock.instant(0.3), clock.instant(1e-9)
    (0.3, 1700000000.3, Fraction(1700000000000000001, 1000000000))
    """

    origin: Exact = 0

    def since(self, time: Any) -> Any:
        """Return the seconds from the origin to a time: a float if the time is a float, otherwise exact."""
        is_float = isinstance(time, float)
        if not self.origin or (is_float and not isfinite(time)):
            return time
        seconds = decimal(time) - self.origin
        return float(seconds) if is_float else seconds

    def instant(self, seconds: Any) -> Any:
        """Return the time that is `seconds` after the origin, without rounding.

        If `seconds` is a float, the result is the float that represents this time, or a fraction if there is
        none.
        """
        if not self.origin:
            return seconds
        time = decimal(seconds) + self.origin
        nearest = float(time)
        return nearest if isinstance(seconds, float) and decimal(nearest) == time else time

    def nearest(self, seconds: Any) -> Any:
        """Return the time that is `seconds` after the origin, rounded to a float if `seconds` is a float."""
        time = self.instant(seconds)
        return float(time) if isinstance(seconds, float) else time

    def all_nearest(self, seconds: Iterable[Any]) -> tuple[Any, ...]:
        """Return the `nearest` time for each number of seconds after the origin, and None for each None."""
        return tuple(None if each is None else self.nearest(each) for each in seconds)
