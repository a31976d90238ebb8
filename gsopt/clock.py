"""Clock: what floats can tell of the time."""

from math import ulp
from typing import Any

from gsopt.tolerances import CLOCK_TICKS, SPAN_ERROR


def clock_error(time: Any, seconds: Any) -> float:
    """Give the seconds by which rounding may be wrong about a span of seconds that ends at a time.

    These are a few units in the last place of the time, whatever the span, and a billionth of the span.

    Examples
    --------
    >>> f"{clock_error(10.0, 10.0):.0e}", f"{clock_error(1.7e9, 10.0):.0e}"
    ('1e-08', '2e-06')
    """
    return CLOCK_TICKS * ulp(float(time)) + SPAN_ERROR * float(seconds)
