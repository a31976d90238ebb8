"""Window: a span of time as people write it."""

from gsopt.errors import InvalidInput, shorten

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def window(text: str, field: str = "window") -> tuple[float, float]:
    """Read begin and end, in seconds; in minutes, hours or days with their letter.

    Parameters
    ----------
    text
        Begin and end with a colon between them.
    field
        What the error message calls it.

    Raises
    ------
    InvalidInput
        The text is no begin and end.

    Examples
    --------
    >>> window("0:90"), window("1h:1d")
    ((0.0, 90.0), (3600.0, 86400.0))
    """
    try:
        begin, end = (seconds(part) for part in text.split(":"))
    except ValueError:
        rule = "must be a begin and an end, such as 30d:31d or 0:3600"
        raise InvalidInput("", field, shorten(text), rule) from None
    return begin, end


def seconds(text: str) -> float:
    """Read seconds; minutes, hours or days with their letter.

    Raises
    ------
    ValueError
        The text is no number.

    Examples
    --------
    >>> seconds("90"), seconds("1.5h")
    (90.0, 5400.0)
    """
    unit = text[-1:]
    return float(text[:-1]) * _UNITS[unit] if unit in _UNITS else float(text)
