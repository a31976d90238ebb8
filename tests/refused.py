"""Refused: what invalid input must raise."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gsopt.core.errors import InvalidInput


@contextmanager
def refused(message: str, *, start: str = "", longest: int = 10_000) -> Iterator[None]:
    """Expect InvalidInput in one line that contains a message, and may have to start with some text."""
    with pytest.raises(InvalidInput) as caught:
        yield
    line = str(caught.value)
    assert line.startswith(start)
    assert message in line
    assert "\n" not in line
    assert len(line) < longest
