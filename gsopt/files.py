"""Files: data from and to JSON, with one clear line for anything wrong in them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from gsopt.errors import InvalidInput, shorten
from gsopt.problem import Frozen, Problem, RuleBroken

F = TypeVar("F", bound=Frozen)


_LARGEST_FILE = 256 * 2**20


_LONGEST_KEY = 60


def read_data(kind: type[F], path: str | Path) -> F:
    """Read data of a known kind, such as a `Workload` or a `Cluster`, from a JSON file.

    Raises
    ------
    InvalidInput
        As `read_problem`.
    """
    text = read_text(path)
    parse_json(str(path), text)
    return validated(kind, str(path), text)


def write(item: Frozen, path: str | Path) -> None:
    """Write a problem or solution as JSON, leaving out what has its default value."""
    Path(path).write_text(to_json(item), encoding="utf-8")


def to_json(item: Frozen) -> str:
    """Give a problem or solution as JSON text: its kind first, one server or job per line."""
    data = item.model_dump(mode="json", exclude_defaults=True)
    if isinstance(item, Problem):
        data = {"problem": item.word, **data}
    lines = [f"{json.dumps(key)}: {_block(value)}" for key, value in data.items()]
    return "{" + ",\n ".join(lines) + "}\n"


def first_error(source: str, error: ValidationError) -> InvalidInput:
    """Turn pydantic's report into one line for the first thing that is wrong."""
    errors = error.errors(include_url=False)
    first = errors[0]
    place, broken = first["loc"], first.get("ctx", {}).get("error")
    if isinstance(broken, RuleBroken):
        line = (_inside(place, broken.field), shorten(broken.value), broken.rule)
    elif first["type"] == "missing":
        line = (_path(place), "", "is required")
    elif first["type"] == "extra_forbidden":
        line = (_path(place), shorten(first["input"]), "is not a known key")
    elif place[-1:] == ("[key]",):
        line = (_path(place[:-2]), shorten(first["input"]), _lower(first["msg"].replace("Input", "every key")))
    else:
        line = (_path(place), shorten(first["input"]), _lower(first["msg"]))
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return InvalidInput(source, line[0], line[1], line[2] + more)


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _path(place: Sequence[int | str]) -> str:
    """Write a place in a file as a path, on one line whatever its keys are."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{_one_line(part)}" for part in place)
    return "".join(parts).lstrip(".")


def _one_line(key: str) -> str:
    return key if key.isprintable() and len(key) <= _LONGEST_KEY else shorten(key)


def _inside(place: Sequence[int | str], field: str) -> str:
    """Give the path of a field of the model at a place; a field's own validator gives the field as place."""
    outer = place[:-1] if place and isinstance(place[-1], str) and field.startswith(place[-1]) else place
    return _path((*outer, field))


def validated(kind: type[F], source: str, text: str) -> F:
    """Read one kind of data from JSON text; InvalidInput names the first thing that is wrong in it."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise first_error(source, error) from None


def read_text(path: str | Path) -> str:
    """Read a text file, and refuse in one line what cannot be read."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
        if len(data) > _LARGEST_FILE:
            raise InvalidInput(str(path), "", "", "must be at most 256 MiB")
        return data.decode("utf-8")
    except OSError as error:
        raise InvalidInput(str(path), "", "", f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(str(path), "", f"byte {error.start}", "must be UTF-8 text") from None
    except ValueError:  # a NUL in the path
        raise InvalidInput(shorten(str(path)), "", "", "must be a path") from None


def parse_json(source: str, text: str) -> dict[str, Any]:
    """Parse JSON and refuse what pydantic's parser would let pass: double keys and NaN."""

    def no_double_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for index, key in enumerate(keys) if key in keys[:index])
            raise InvalidInput(source, shorten(twice), "", "must not stand twice in one object")
        return seen

    def no_constants(constant: str) -> NoReturn:
        raise InvalidInput(source, "", constant, "must be a finite number")

    try:
        data = json.loads(text, object_pairs_hook=no_double_keys, parse_constant=no_constants)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise InvalidInput(source, where, "", f"must be JSON: {error.msg.lower()}") from None
    except RecursionError:
        raise InvalidInput(source, "", "", "must not be nested so deeply") from None
    except InvalidInput:
        raise
    except ValueError:  # an integer of more than 4,300 digits
        raise InvalidInput(source, "", "an integer of thousands of digits", "must be a number") from None
    if not isinstance(data, dict):
        raise InvalidInput(source, "", shorten(data), "must be a JSON object")
    return data


def _block(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(json.dumps(row) for row in value) + "\n ]"
    return json.dumps(value)
