"""Valid: what somebody else's file makes of our data, refused in one line where it breaks a rule."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error
from gsopt.core.problem import RuleBroken


@contextmanager
def validly(source: str) -> Iterator[None]:
    """Name the file in whatever says that something is wrong with what is made of it."""
    try:
        yield
    except ValidationError as error:
        raise first_error(source, error) from None
    except RuleBroken as error:
        raise InvalidInput(error.field, shorten(error.value), error.rule, source=source) from None
