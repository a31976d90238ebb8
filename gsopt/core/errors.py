"""Errors: the exceptions of gsopt, and functions that check arguments and shorten messages.

The outcomes of a solve, such as infeasibility, are values and not exceptions.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf, nan
from numbers import Real
from sys import float_info
from typing import Any

_LONGEST_VALUE = 60

#: Maximum length of a message from other code, and of a file name.
_LONGEST_LINE = 300


def shorten(value: object) -> str:
    """Return the representation of a value, shortened to at most sixty characters.

    Examples
    --------
    >>> shorten("server"), shorten(10**400)
    ("'server'", '1000000000000000000000000000... (401 characters)')
    """
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of more than 4,300 digits
        return "a number of more than 4,300 digits"
    if len(text) <= _LONGEST_VALUE:
        return text
    return f"{text[:28]}... ({len(text):,} characters)"


def escape(text: str) -> str:
    r"""Return a string as one line, with line breaks and all other unprintable characters escaped.

    Examples
    --------
    >>> escape("a\nb"), escape("b\udcffc"), escape("Größe")
    ('a\\nb', 'b\\udcffc', 'Größe')
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def brief(source: str) -> str:
    """Return the name of a file or, if the name has more than 300 characters, its beginning and length.

    Examples
    --------
    >>> brief("a.json"), len(brief("a" * 5000))
    ('a.json', 82)
    """
    if len(source) <= _LONGEST_LINE:
        return source
    return f"{source[:_LONGEST_VALUE]}... ({len(source):,} characters)"


def one_line(error: BaseException) -> str:
    """Return any exception as one line: its type, and the first line of its message.

    Examples
    --------
    >>> one_line(ValueError("no"))
    'ValueError: no'
    """
    try:
        message = escape(str(error).partition("\n")[0])
    except Exception:  # noqa: BLE001 - the error may be anybody's
        message = ""
    if len(message) > _LONGEST_LINE:
        message = f"{message[:_LONGEST_LINE]}... ({len(message):,} characters)"
    return ": ".join(part for part in (type(error).__name__, message) if part)


@contextmanager
def kept_running(name: str) -> Iterator[None]:
    """Turn exceptions that would end the program, such as ``SystemExit``, into `Exited`.

    Ctrl-C is not affected. The message starts with `name`, which says whose code was running. Forked processes
    may still exit.

    Examples
    --------
    >>> with kept_running("mine"):
    ...     raise SystemExit(0)
    Traceback (most recent call last):
    gsopt.core.errors.Exited: mine must not end the program: SystemExit: 0
    """
    process = os.getpid()
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        if os.getpid() != process:
            raise
        raise Exited(f"{escape(name)} must not end the program: {one_line(error)}") from error


class GsoptError(Exception):
    """Base class of gsopt's own errors.

    The constructors of `gsopt.core.problem.Frozen` objects, such as `gsopt.Job`, raise
    ``pydantic.ValidationError`` instead.

    Examples
    --------
    >>> import gsopt
    >>> try:
    ...     gsopt.load("reclaiming/absent")
    ... except gsopt.GsoptError as error:
    ...     print(type(error).__name__)
    InvalidInput
    """


class InvalidInput(GsoptError, ValueError):
    """Error raised when an input breaks a rule.

    The message is one line that names source, field, value and rule, except those that are empty.

    Attributes
    ----------
    source
        File or argument that contains the value; empty if unknown.
    field
        Path of the field, such as ``jobs[3].workers.s9``; empty for the input as a whole.
    value
        The offending value, shortened.
    rule
        The rule that the value breaks, such as ``must be at least 0``.

    Examples
    --------
    >>> print(InvalidInput("demand", "-1", "must be at least 0", source="a.json"))
    a.json: demand: -1: must be at least 0
    """

    def __init__(self, field: str, value: str, rule: str, *, source: str = "") -> None:
        self.source, self.field, self.value, self.rule = source, field, value, rule
        super().__init__(escape(": ".join(part for part in (brief(source), field, value, rule) if part)))

    def __reduce__(self) -> tuple[partial["InvalidInput"], tuple[str, str, str]]:
        return partial(type(self), source=self.source), (self.field, self.value, self.rule)


class InvalidSolution(GsoptError):
    """Error raised when a solution breaks a rule of its problem."""


class ModelMismatch(GsoptError):
    """Error raised when a model and the judge disagree, for example about the value of a solution."""


class Contradiction(GsoptError):
    """Error raised when a solution contradicts a proof, which means that one of the two is wrong.

    The solution is better than a proven bound, or the problem was proven to have no solution.
    """


class MissingSolver(GsoptError):
    """Error raised when a solver or another package is not installed, does not start, or is known to be faulty.

    The message says what to install, or why the solver does not start.
    """


class Unsupported(GsoptError):
    """Error raised when a method, backend or other function does not support a valid input.

    The message says why.
    """


class Exited(GsoptError):
    """Error raised when a method, a policy or other user code tries to end the program."""


class TimeUp(GsoptError):
    """Error raised when a time limit is reached before there is anything to return."""


class BrokenModel(GsoptError):
    """Error raised when a model is unbounded, or its arrays have wrong shapes or unusable numbers."""


def require(holds: bool, field: str, value: object, rule: str) -> None:
    """Raise `InvalidInput` naming an argument, its value and the rule, unless the rule holds.

    Examples
    --------
    >>> require(-3 >= 1, "servers", -3, "must be at least 1")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: servers: -3: must be at least 1
    """
    if not holds:
        raise InvalidInput(field, shorten(value), rule)


def number_of(value: Any) -> Any:
    """Return a number unchanged, or NaN for anything else, so that range checks on the result fail.

    A finite number that is too large for a double also becomes NaN.

    Examples
    --------
    >>> 0 < number_of(60) < 100, 0 < number_of("60") < 100, 0 < number_of(True) < 100, 0 < number_of(10**400)
    (True, False, False, False)
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return value if is_number and (abs(value) <= float_info.max or abs(value) == inf) else nan


def require_one_of(field: str, value: object, words: Iterable[str]) -> None:
    """Raise `InvalidInput` unless an argument is one of the allowed words.

    Examples
    --------
    >>> require_one_of("order", "luck", ("time", "gpus"))
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: order: 'luck': must be one of time, gpus
    """
    known = tuple(words)
    if value not in known:
        raise InvalidInput(field, shorten(value), f"must be one of {', '.join(known)}")
