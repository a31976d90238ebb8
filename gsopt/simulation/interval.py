"""Intervals: limits on the time between two decisions."""

from gsopt.core.errors import number_of, require
from gsopt.scenario.job import LATEST

#: Minimum length of a round in seconds. The clock, which uses floats, cannot resolve much shorter ones.
SHORTEST_ROUND = 1e-6


def require_interval(field: str, seconds: object, *, or_none: bool = False) -> None:
    """Raise `InvalidInput` unless an argument is a number of seconds that the clock can measure.

    With `or_none`, the argument may also be None.
    """
    holds = (or_none and seconds is None) or SHORTEST_ROUND <= number_of(seconds) <= LATEST
    rule = f"must be a finite number of seconds, at least {SHORTEST_ROUND:g} and at most {LATEST:g}"
    require(holds, field, seconds, f"{rule}, or None" if or_none else rule)
