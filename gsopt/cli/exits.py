"""Exits: what the exit code of the command says, and the one line of whatever went wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from errno import ENAMETOOLONG
from traceback import extract_tb

import typer
from pydantic import ValidationError

from gsopt.core.errors import (
    GsoptError,
    InvalidInput,
    MissingSolver,
    Unsupported,
    brief,
    escape,
    one_line,
)
from gsopt.core.files import first_error

#: Wrong use of the command line: an unknown command or option, or a value of the wrong kind.
_Usage = typer.BadParameter.__base__ or typer.BadParameter


class Exit(IntEnum):
    """Exit codes."""

    SOLUTION = 0
    FAILED = 1  # a rule of the judge is broken, cells of a study failed, or two methods contradict each other
    BAD_INPUT = 2
    NO_SOLUTION = 3
    INFEASIBLE = 4
    INTERRUPTED = 130


class Interrupted(Exception):
    """Ctrl-C while a command had nothing to show for it."""

    def __str__(self) -> str:
        return "interrupted"


class Failed(Exception):
    """A method or policy raised an error of its own, which the message tells with the line that raised it."""


@contextmanager
def named(name: str) -> Iterator[None]:
    """Name whose error it is that is raised within, if it is none of gsopt's."""
    try:
        yield
    except GsoptError:
        raise
    except Exception as error:
        *_, last = extract_tb(error.__traceback__)
        raise Failed(f"{name} failed: {one_line(error)} ({last.filename}, line {last.lineno})") from error


#: What is wrong with the input, such as data that a generator made of its arguments; and elsewhere.
_WRONG = (InvalidInput, Unsupported, MissingSolver, ValidationError, _Usage)
_BROKEN = (GsoptError, OSError, Failed)


def describe(error: Exception) -> tuple[str, int] | None:
    """Say in one line what went wrong, with the exit code for it; None when it is no fault of the input."""
    if isinstance(error, Interrupted | typer.Abort):
        code = Exit.INTERRUPTED
    elif isinstance(error, _WRONG) or (isinstance(error, OSError) and error.errno == ENAMETOOLONG):
        code = Exit.BAD_INPUT
    elif isinstance(error, _BROKEN):
        code = Exit.FAILED
    else:
        return None
    return escape(_line(error)), code


def _line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return str(first_error("", error))
    if isinstance(error, OSError):
        return (
            f"{brief(str(error.filename))}: {error.strerror}"
            if error.filename
            else error.strerror or str(error)
        )
    if isinstance(error, _Usage):
        return str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    return str(error) or "interrupted"
