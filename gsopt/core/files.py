"""Files: data from and to JSON, with one clear line for anything wrong in them."""

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

#: Characters of a file's name, of which file systems allow little more.
_LONGEST_NAME = 200

#: With what text begins that a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

#: What is being read, by path with the SHA-256 of the content, while anybody wants to know.
_noted: ContextVar[dict[str, str] | None] = ContextVar("noted", default=None)


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


class Plain(Protocol):
    """What gives itself as plain JSON types, such as a result or a history."""

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, by name."""
        ...


def write(item: Frozen | Plain, path: str | Path) -> None:
    """Write a problem, solution or result as JSON; problems leave out what has its default value.

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
    """Write a text file, whole or not at all.

    Raises
    ------
    InvalidInput
        The file cannot be written.
    """
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield the path of a file beside another one, which takes its place once it is written.

    Whatever goes wrong, Ctrl-C included, leaves the file as it was and nothing beside it. A device, such as
    ``/dev/stdout``, is written to directly.

    Raises
    ------
    InvalidInput
        The file cannot be written; the message is one line.

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
    """Say in one line why something cannot be written."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(str(path), "", "", f"cannot be written: {error.strerror or error}") from None


def _target(path: str | Path) -> Path:
    """Return the file itself, behind all links; a device as it is named."""
    if "\0" in str(path):
        raise InvalidInput(str(path), "", "", "must be a path")
    if Path(path).is_dir():
        raise InvalidInput(str(path), "", "", "must be a file, and is a folder")
    return Path(os.path.realpath(path)) if _is_plain(Path(path)) else Path(path)


def _is_plain(target: Path) -> bool:
    return target.is_file() or not target.exists()


def file_name(text: str) -> str:
    r"""Return a name that a file can have, without its ending.

    Examples
    --------
    >>> file_name("tiresias(promote=2.0)"), file_name("../a\nb")
    ('tiresias(promote=2.0)', '.._a\\nb')
    """
    return escape(text).replace("/", "_")[:_LONGEST_NAME]


def quoted(cell: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would take for a formula, and run; numbers stay.

    Examples
    --------
    >>> quoted("=1+1"), quoted("'=1+1"), quoted("a=1"), quoted(-1)
    ("'=1+1", "''=1+1", 'a=1', -1)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip("'").startswith(_FORMULA) else cell


def unquoted(cell: str) -> str:
    """Take the apostrophe away that `quoted` has put before text.

    Examples
    --------
    >>> unquoted("'=1+1"), unquoted("'a'")
    ('=1+1', "'a'")
    """
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell


def require_writable(path: str | Path) -> None:
    """Refuse a file that could not be written later, before the work for it begins.

    Raises
    ------
    InvalidInput
        It is a folder, or its folder is not there or cannot be written to.

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
    """Make a folder where there is none, and refuse one in which nothing can be written.

    Raises
    ------
    InvalidInput
        It cannot be made, or not be written to.
    """
    if "\0" in str(folder):
        raise InvalidInput(str(folder), "", "", "must be a path")
    with _writing(folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def to_json(item: Frozen | Plain) -> str:
    """Return a problem, solution or result as JSON text: its kind first, one server, job or row per line."""
    data = item.model_dump(mode="json", exclude_defaults=True) if isinstance(item, Frozen) else item.as_dict()
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
    """Return the path of a field of the model at a place; a field's own validator gives the field as place."""
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
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(str(path), "", f"byte {error.start}", "must be UTF-8 text") from None


def read_bytes(path: str | Path) -> bytes:
    """Read a file; pipes and devices, which may never end, are refused like everything that cannot be read."""
    try:
        mode = Path(path).stat().st_mode
        if not S_ISREG(mode) and not S_ISDIR(mode):
            raise InvalidInput(str(path), "", "", "must be a file, no pipe or device")
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidInput(str(path), "", "", f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(str(path), "", "", "must be a path") from None  # a NUL in it
    if len(data) > _LARGEST_FILE:
        raise InvalidInput(str(path), "", "", "must be at most 256 MiB")
    if (noted := _noted.get()) is not None:
        noted[str(path)] = sha256(data).hexdigest()
    return data


@contextmanager
def noting_reads() -> Iterator[dict[str, str]]:
    """Note every file that is read within, by path, with the SHA-256 of its content as it was then.

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
