"""Options: the parser of options that follow a name on the command line, as in ``tiresias:promote=2``."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.studies.options import typed

#: Pattern of a name, which may contain colons, followed by a colon and its options.
_NAMED = re.compile(r"(?P<name>.*?)(?::(?P<options>\w+\s*=.*))?", re.DOTALL)

#: Values that tables print in Python's notation, keyed by that notation.
_PRINTED = {"None": None, "True": True, "False": False}

_OPENING, _CLOSING = "[{", "]}"


def split_name(text: str, field: str) -> tuple[str, dict[str, Any]]:
    """Split a name from its options, whose values are JSON or plain strings.

    Error messages refer to the argument as `field`.
    """
    found = _NAMED.fullmatch(text)
    if found is None or found["options"] is None:
        return text, {}
    return found["name"], read_options(found["options"], field)


def read_options(text: str, field: str) -> dict[str, Any]:
    """Parse options written as ``name=value,name=value``."""
    options: dict[str, Any] = {}
    for part in _parts(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            rule = "must be an option and its value, such as promote=2"
            raise InvalidInput(field, shorten(part), f"{rule}; a list is written in brackets, such as [1,2]")
        if name in options:
            raise InvalidInput(field, shorten(part), f"gives {name} twice")
        options[name] = read_value(value)
    return options


def typed_options(
    field: str, name: str, function: Callable[..., Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Convert options to keyword arguments, with the types that a function declares."""
    try:
        return typed(function, given)
    except InvalidInput as error:
        raise InvalidInput(f"{field} {name}: {error.field}", error.value, error.rule) from None


def _parts(text: str) -> Iterator[str]:
    """Split a string at all commas outside brackets."""
    depth, begin = 0, 0
    for place, each in enumerate(text):
        depth += (each in _OPENING) - (each in _CLOSING)
        if each == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]


def read_value(text: str) -> Any:
    """Parse a value as JSON, or keep it as a string.

    Python's ``None``, ``True`` and ``False`` are accepted as well.
    """
    if text in _PRINTED:
        return _PRINTED[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
