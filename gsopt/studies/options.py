"""Options: the conversion of values in a study file to typed keyword arguments of a function."""

import json
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, Signature, isclass, signature
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from gsopt.core.budget import TimeLimit, checked_time_limit
from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.method import name_of
from gsopt.evaluation.catalogue import find_backend

#: Options whose values can be passed only by a program.
_NOT_IN_A_FILE = frozenset({"budget", "start", "on_incumbent", "on_progress", "log"})


def known_options(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function's options that a study file may set, keyed by option name."""
    found: dict[str, Any] = {}
    for name, parameter in _signature(function).parameters.items():
        kind = parameter.annotation
        if parameter.kind is Parameter.VAR_KEYWORD:  # a typed dictionary of options, unpacked
            for part in get_args(kind):
                found |= get_type_hints(part)
        elif _is_option(parameter) and name not in _NOT_IN_A_FILE:
            found[name] = Any if kind is Parameter.empty or isinstance(kind, str) else kind
    return found


def _signature(function: Callable[..., Any]) -> Signature:
    try:
        return signature(function, eval_str=True)
    except NameError:  # annotations that are there for type checkers only
        return signature(function)


def _is_option(parameter: Parameter) -> bool:
    by_name = parameter.kind is Parameter.POSITIONAL_OR_KEYWORD and parameter.default is not Parameter.empty
    return by_name or parameter.kind is Parameter.KEYWORD_ONLY


def typed(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Convert options read from JSON to keyword arguments of a function."""
    known = known_options(function)
    for name, value in options.items():
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "there are none"
            rule = f"is not an option of {name_of(function)}; {there}"
            raise InvalidInput(name, shorten(value), rule)
    return {name: _typed(name, value, known[name]) for name, value in options.items()}


def _typed(name: str, value: Any, kind: Any) -> Any:
    if name == "backend" and value is not None:
        return find_backend(value)
    if kind == TimeLimit:
        return checked_time_limit(value, name)
    own = isclass(kind) and issubclass(kind, BaseModel)
    try:
        adapter = TypeAdapter(kind, config=None if own else ConfigDict(arbitrary_types_allowed=True))
        found = adapter.validate_json(json.dumps(value), strict=True)
        # pydantic validates an iterable only as it is read
        return tuple(found) if isinstance(found, Iterator) else found
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"]
        raise InvalidInput(name, shorten(value), message[:1].lower() + message[1:]) from None
