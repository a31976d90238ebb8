"""Options that are one of a few words."""

from collections.abc import Mapping
from typing import TypeVar

from gsopt.core.errors import InvalidInput, shorten

T = TypeVar("T")


def choose(option: str, value: str, choices: Mapping[str, T]) -> T:
    """Return what a word stands for.

    Raises
    ------
    InvalidInput
        The word is none of the choices.
    """
    if value not in choices:
        raise InvalidInput("", option, shorten(value), f"must be one of {', '.join(choices)}")
    return choices[value]
