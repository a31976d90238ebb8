"""Files: functions that read and write JSON files, and report any error in a file in one line."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, NoReturn, Protocol, TypeVar

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, escape, shorten
from gsopt.core.problem import Frozen, Problem, RuleBroken

F = TypeVar("F", bound=Frozen)

_LARGEST_FILE = 256 * 2**20
_LONGEST_KEY = 60

#: Maximum length of a file name in bytes; file systems allow little more.
_LONGEST_NAME = 200

#: Paths of a process's open streams. A file behind them is written and not replaced.
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")

#: First characters of text that a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

#: SHA-256 digests of the files read inside `noting_reads`, keyed by path; None outside of it.
_noted: ContextVar[dict[str, str] | None] = ContextVar("noted", default=None)


def read_data(kind: type[F], path: str | Path) -> F:
    """Read an object of the given type, such as a `Workload` or a `Cluster`, from a JSON file.

    Raise `InvalidInput` if the file cannot be read, contains no JSON object, or breaks a rule of the type.
    """
    text = read_text(path)
    parse_json(str(path), text)
    return validated(kind, str(path), text)


class Plain(Protocol):
    """An object that can convert itself to plain JSON types, such as a result or a history."""

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON types, keyed by name."""
        ...


def write(item: Frozen | Plain, path: str | Path) -> None:
    """Write an object, such as a problem, solution or result, to a JSON file.

    In problems and solutions, fields with default values are omitted.

    Examples
    --------
    >>> import gsopt
    >>> from tempfile import TemporaryDirectory
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> with TemporaryDirectory() as folder:
    ...     write(problem, f"{folder}/a.json")
    ...     gsopt.read_problem(f"{folder}/a.json") == problem
    True
    """
    write_text(path, to_json(item))


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, completely or not at all."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a path to write to; at the end of the ``with`` block, the written file replaces the given one.

    After a failure or Ctrl-C, the given file is unchanged and the written file is deleted. For a device or a
    stream, such as ``/dev/null`` or ``/dev/stdout``, its own path is yielded, and nothing is replaced.

    Examples
    --------
    >>> with replacing("no/such/folder/a.json") as beside:
    ...     beside.write_text("{}")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/folder/a.json: cannot be written: No such file or directory
    """
    with _writing(path):
        target = _target(path)
        if not _is_plain(target):
            yield target
            return
        beside = target.with_name(f".{os.getpid()}.{target.name}")
        try:
            yield beside
            if target.exists():
                shutil.copymode(target, beside)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def _writing(path: str | Path) -> Iterator[None]:
    """Turn a failure to write into an `InvalidInput` with a one-line message."""
    try:
        yield
    except OSError as error:
        raise InvalidInput("", "", f"cannot be written: {error.strerror or error}", source=str(path)) from None


def _target(path: str | Path) -> Path:
    """Return the path of a file with all links resolved.

    The path of a device is returned unchanged.
    """
    if "\0" in str(path):
        raise InvalidInput("", "", "must be a path", source=str(path))
    if Path(path).is_dir():
        raise InvalidInput("", "", "must be a file, not a folder", source=str(path))
    return Path(os.path.realpath(path)) if _is_plain(Path(path)) else Path(path)


def _is_plain(target: Path) -> bool:
    """Check whether a path names a file or nothing, and not a device or a stream that may lead to a file."""
    return not str(target).startswith(_STREAMS) and (target.is_file() or not target.exists())


def file_name(text: str) -> str:
    r"""Replace slashes and unprintable characters in a string, and shorten it, for use in a file name.

    Examples
    --------
    >>> file_name("tiresias(promote=2.0)"), file_name("../a\nb")
    ('tiresias(promote=2.0)', '.._a\\nb')
    """
    name = escape(text).replace("/", "_").encode()
    return name[:_LONGEST_NAME].decode(errors="ignore")


def quoted(cell: Any) -> Any:
    """Return a table cell, with an apostrophe before a string that a spreadsheet would take for a formula.

    If apostrophes already precede the formula, another one is added, so that `unquoted` can undo this.

    Examples
    --------
    >>> quoted("=1+1"), quoted("'=1+1"), quoted("a=1"), quoted(-1)
    ("'=1+1", "''=1+1", 'a=1', -1)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip("'").startswith(_FORMULA) else cell


def unquoted(cell: str) -> str:
    """Return a table cell without the apostrophe that `quoted` puts before some strings.

    Examples
    --------
    >>> unquoted("'=1+1"), unquoted("'a'")
    ('=1+1', "'a'")
    """
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell


def require_writable(path: str | Path) -> None:
    """Raise `InvalidInput` if a file cannot be written, before any work is spent on its content.

    Examples
    --------
    >>> require_writable("no/such/folder/a.json")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/folder/a.json: cannot be written: No such file or directory
    """
    with _writing(path):
        target = _target(path)
        if _is_plain(target):
            with tempfile.TemporaryFile(dir=target.parent):
                pass


def require_folder(folder: str | Path) -> None:
    """Create a folder if needed, and raise `InvalidInput` if it cannot be created or is not writable."""
    if "\0" in str(folder):
        raise InvalidInput("", "", "must be a path", source=str(folder))
    with _writing(folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def to_json(item: Frozen | Plain) -> str:
    """Return a problem, solution or result as JSON text; each object in a top-level list has its own line."""
    data = item.model_dump(mode="json", exclude_defaults=True) if isinstance(item, Frozen) else item.as_dict()
    if isinstance(item, Problem):
        data = {"problem": item.word, **data}
    lines = [f"{json.dumps(key)}: {_block(value)}" for key, value in data.items()]
    return "{" + ",\n ".join(lines) + "}\n"


def first_error(source: str, error: ValidationError) -> InvalidInput:
    """Return the first error in pydantic's report as an `InvalidInput` with a one-line message."""
    errors = error.errors(include_url=False)
    first = errors[0]
    place, broken = first["loc"], first.get("ctx", {}).get("error")
    field, value, rule = _path(place), first["input"], first["msg"][:1].lower() + first["msg"][1:]
    if isinstance(broken, RuleBroken):
        field, value, rule = _inside(place, broken.field), broken.value, broken.rule
    elif first["type"] == "missing":
        rule = "is required"
    elif first["type"] == "extra_forbidden":
        rule = "is not a known key"
    elif place[-1:] == ("[key]",):
        field, rule = _path(place[:-2]), rule.replace("input", "every key", 1)
    shown = "" if first["type"] == "missing" else shorten(value)
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return InvalidInput(field, shown, rule + more, source=source)


def _path(place: Sequence[int | str]) -> str:
    """Return the location of a field in a file as a one-line path."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{_one_line(part)}" for part in place)
    return "".join(parts).lstrip(".")


def _one_line(key: str) -> str:
    return key if key.isprintable() and len(key) <= _LONGEST_KEY else shorten(key)


def _inside(place: Sequence[int | str], field: str) -> str:
    """Return the path of a field of the model at `place`, where `place` may already end in that field."""
    outer = place[:-1] if place and isinstance(place[-1], str) and field.startswith(place[-1]) else place
    return _path((*outer, field))


def validated(kind: type[F], source: str, text: str) -> F:
    """Parse an object of the given type from JSON text, or raise `InvalidInput` for the first error."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise first_error(source, error) from None


def read_text(path: str | Path) -> str:
    """Read a text file, or raise `InvalidInput` saying in one line why it cannot be read."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput("", f"byte {error.start}", "must be UTF-8 text", source=str(path)) from None


def read_bytes(path: str | Path) -> bytes:
    """Return the content of a regular file.

    Raise `InvalidInput` if the file cannot be read or is larger than 256 MiB. Pipes and devices are rejected,
    because reading them might never end.
    """
    try:
        mode = Path(path).stat().st_mode
        if not S_ISREG(mode) and not S_ISDIR(mode):
            raise InvalidInput("", "", "must be a regular file, not a pipe or device", source=str(path))
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidInput("", "", f"cannot be read: {error.strerror}", source=str(path)) from None
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("", "", "must be a path", source=str(path)) from None  # a NUL in it
    if len(data) > _LARGEST_FILE:
        raise InvalidInput("", "", "must be at most 256 MiB", source=str(path))
    if (noted := _noted.get()) is not None:
        noted[str(path)] = sha256(data).hexdigest()
    return data


@contextmanager
def noting_reads() -> Iterator[dict[str, str]]:
    """Record the files that `read_bytes` reads inside the ``with`` block: their paths and SHA-256 digests.

    Examples
    --------
    >>> from gsopt.evaluation.catalogue import load
    >>> with noting_reads() as noted:
    ...     problem = load("reclaiming/aryl-figure-5")
    >>> [(Path(path).name, len(digest)) for path, digest in noted.items()]
    [('aryl-figure-5.json', 64)]
    """
    noted: dict[str, str] = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def parse_json(source: str, text: str) -> dict[str, Any]:
    """Parse a JSON object, and raise `InvalidInput` if the text is not one.

    Duplicate keys and the constants ``NaN`` and ``Infinity``, which pydantic's parser would accept, are
    rejected, too. A number that is too large for a double, such as 1e999, becomes infinite; the caller rejects
    it with the name of its field.
    """

    def no_double_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for index, key in enumerate(keys) if key in keys[:index])
            raise InvalidInput(shorten(twice), "", "must not occur twice in one object", source=source)
        return seen

    def no_constants(constant: str) -> NoReturn:
        raise InvalidInput("", constant, "must be a finite number", source=source)

    try:
        data = json.loads(text, object_pairs_hook=no_double_keys, parse_constant=no_constants)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise InvalidInput(where, "", f"must be JSON: {error.msg.lower()}", source=source) from None
    except RecursionError:
        raise InvalidInput("", "", "must be nested less deeply", source=source) from None
    except InvalidInput:
        raise
    except ValueError:  # an integer of more than 4,300 digits
        raise InvalidInput("", "an integer of thousands of digits", "must be a number", source=source) from None
    if not isinstance(data, dict):
        raise InvalidInput("", shorten(data), "must be a JSON object", source=source)
    return data


def _block(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(json.dumps(row) for row in value) + "\n ]"
    return json.dumps(value)
