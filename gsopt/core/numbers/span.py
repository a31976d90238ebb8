"""Span: functions that parse durations such as ``90``, ``2min`` or ``1.5h``."""

import re

from gsopt.core.errors import InvalidInput, shorten

#: Lengths of units in seconds; a number without a unit is in seconds.
_UNITS = {"ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}

_SPAN = re.compile(r"(?P<number>(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?) ?(?P<unit>[a-z]*)", re.ASCII)

#: Examples of spans, for error messages.
WRITTEN = "such as 30s, 2min, 1.5h, 1d or 500ms"


def read_seconds(text: str) -> float:
    """Convert a duration to seconds.

    The unit is ``ms``, ``s``, ``min`` (or ``m``), ``h`` or ``d``; a number without a unit is in seconds.

    Raises
    ------
    ValueError
        The string is not a duration.

    Examples
    --------
    >>> [read_seconds(text) for text in ("90", "500ms", "2min", "1.5h", "1 d")]
    [90.0, 0.5, 120.0, 5400.0, 86400.0]
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None or found["unit"] not in _UNITS:
        raise ValueError(f"must be a number of seconds, or {WRITTEN}")
    return float(found["number"]) * _UNITS[found["unit"]]


def read_window(text: str, *, field: str = "window") -> tuple[float, float]:
    """Return the start and end, in seconds, of a window such as ``30d:31d``.

    `field` is the name of the window in error messages.

    Raises
    ------
    InvalidInput
        The string does not consist of two durations with a colon between them.

    Examples
    --------
    >>> read_window("30d:31d"), read_window("0:3600")
    ((2592000.0, 2678400.0), (0.0, 3600.0))
    """
    try:
        begin, end = (read_seconds(part) for part in text.split(":"))
    except ValueError:
        rule = "must be a begin and an end, such as 30d:31d or 0:3600"
        raise InvalidInput(field, shorten(text), rule) from None
    return begin, end
