"""Exits: the exit codes of the command, and its one-line error messages."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from errno import ENAMETOOLONG
from traceback import extract_tb

import typer

from gsopt.core.errors import GsoptError, InvalidInput, MissingSolver, Unsupported, brief, escape, one_line

#: Type of the error for wrong use of the command line, such as an unknown option or a value of the wrong type.
_Usage = typer.BadParameter.__base__ or typer.BadParameter


class Exit(IntEnum):
    """The exit codes of the ``gsopt`` command."""

    SOLUTION = 0
    FAILED = 1  # a rule of the judge is broken, cells of a study failed, or two methods contradict each other
    BAD_INPUT = 2
    NO_SOLUTION = 3
    INFEASIBLE = 4
    INTERRUPTED = 130


class Interrupted(Exception):
    """Error raised when Ctrl-C interrupts a command before it has any results."""

    def __str__(self) -> str:
        return "interrupted"


class Failed(Exception):
    """Error raised when the code of a method or policy fails.

    The message contains the original error and the line that raised it.
    """


@contextmanager
def named(name: str) -> Iterator[None]:
    """Turn any exception except `GsoptError` into `Failed`, with a message that begins with the given name."""
    try:
        yield
    except GsoptError:
        raise
    except Exception as error:
        *_, last = extract_tb(error.__traceback__)
        raise Failed(f"{name} failed: {one_line(error)} ({last.filename}, line {last.lineno})") from error


def describe(error: Exception, words: Sequence[str] = ()) -> tuple[str, int] | None:
    """Return a one-line message and the exit code for an error, or None if it is a bug.

    `words` are those of the command line. If one of them is the option for the parameter that the error names,
    the message names that option instead.
    """
    from pydantic import ValidationError

    from gsopt.core.files import first_error

    if isinstance(error, ValidationError):  # data that a generator made of its arguments
        error = first_error("", error)
    if isinstance(error, InvalidInput) and error.field and error.source in {"", "scenario"}:
        error = _as_typed(error, words)
    if isinstance(error, Interrupted | typer.Abort):
        code = Exit.INTERRUPTED
    elif isinstance(error, InvalidInput | Unsupported | MissingSolver | _Usage) or _is_too_long(error):
        code = Exit.BAD_INPUT
    elif isinstance(error, GsoptError | OSError | Failed):
        code = Exit.FAILED
    else:
        return None
    return escape(_line(error)), code


def _as_typed(error: InvalidInput, words: Sequence[str]) -> InvalidInput:
    """Return the error with the option that was typed in place of a parameter, which may be its plural."""
    name, *rest = re.split(r"(?=[.\[])", error.field, maxsplit=1)
    names = {name, f"{name}s", name.removesuffix("s")}
    for word in words:
        option = word.partition("=")[0]
        if option.startswith("--") and option[2:].replace("-", "_") in names:
            return InvalidInput("".join((option, *rest)), error.value, error.rule)
    return error


def _is_too_long(error: Exception) -> bool:
    """Check whether an error is due to a file name that is too long."""
    return isinstance(error, OSError) and error.errno == ENAMETOOLONG


def _line(error: Exception) -> str:
    if isinstance(error, OSError):
        name = f"{brief(str(error.filename))}: " if error.filename else ""
        return f"{name}{error.strerror or error}"
    if isinstance(error, _Usage):
        return str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    return str(error) or "interrupted"
