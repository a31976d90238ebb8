"""Refusals: calls that must end in one line that says what is wrong with their input."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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


def assert_refused(rule: str, call: Callable[..., object], /, *arguments: Any, **options: Any) -> None:
    """Check that a call refuses its input in one line in which a regular expression is found."""
    line = refusal(call, *arguments, **options)
    assert re.search(rule, line), line


def refusal(call: Callable[..., object], /, *arguments: Any, **options: Any) -> str:
    """Return the one line with which a call refuses its input."""
    with pytest.raises(InvalidInput) as caught:
        call(*arguments, **options)
    line = str(caught.value)
    assert "\n" not in line
    return line
