"""Refusals: calls that must end in one line that says what is wrong with their input."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput


def refusal(call: Callable[..., object], /, *arguments: Any, **options: Any) -> str:
    """Return the one line with which a call refuses its input."""
    with pytest.raises(InvalidInput) as refused:
        call(*arguments, **options)
    line = str(refused.value)
    assert "\n" not in line
    return line


def assert_refused(rule: str, call: Callable[..., object], /, *arguments: Any, **options: Any) -> None:
    """Check that a call refuses its input in one line in which a regular expression is found."""
    line = refusal(call, *arguments, **options)
    assert re.search(rule, line), line
