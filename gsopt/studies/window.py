"""Window: a span of time as people write it."""

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.span import read_seconds


def window(text: str, field: str = "window") -> tuple[float, float]:
    """Read begin and end, each a number of seconds or with a unit, as `read_seconds` takes it.

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
    """
    try:
        begin, end = (read_seconds(part) for part in text.split(":"))
    except ValueError:
        rule = "must be a begin and an end, such as 30d:31d or 0:3600"
        raise InvalidInput("", field, shorten(text), rule) from None
    return begin, end
