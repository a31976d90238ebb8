"""Valid: one-line errors about data derived from files that other programs wrote."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error
from gsopt.core.problem import RuleBroken


@contextmanager
def validly(source: str) -> Iterator[None]:
    """Turn validation errors about data derived from a file into an `InvalidInput` that names the file."""
    try:
        yield
    except ValidationError as error:
        raise first_error(source, error) from None
    except RuleBroken as error:
        raise InvalidInput(error.field, shorten(error.value), error.rule, source=source) from None
